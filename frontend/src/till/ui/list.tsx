import type { UseInfiniteQueryResult } from '@tanstack/react-query'
import type { ReactNode } from 'react'
import { lastOf } from '@/shared/lib/text/last-of'
import { Empty } from '@/shared/ui/empty'
import { Failed } from '@/shared/ui/failed'
import { MoreSentinel } from '@/shared/ui/more-sentinel'
import { Spinner } from '@/shared/ui/spinner'
import { useZone } from '@/till/lib/page/zone'
import { dateThere } from '@/till/lib/page/zone-clock'
import styles from './list.module.css'

interface Dated {
  created_at: string
}

interface Props<T> {
  query: Pick<
    UseInfiniteQueryResult,
    'error' | 'isFetching' | 'isFetchingNextPage' | 'isFetchNextPageError' | 'hasNextPage' | 'isPending'
  > & { rows: T[] | undefined; refetch: () => unknown; fetchNextPage: () => unknown }
  empty: string
  keyOf: (row: T) => string
  children: (row: T) => ReactNode
}

/** Rows by day; today's rows need no title. */
export function List<T extends Dated>({ query, empty, keyOf, children }: Props<T>) {
  const zone = useZone()
  const dayOf = (at: string | number) => dateThere(new Date(at).getTime(), zone)
  const { rows } = query
  if (rows === undefined) {
    if (query.isPending) return <Spinner large />
    return <Failed error={query.error} pending={query.isFetching} onRetry={() => void query.refetch()} />
  }
  if (rows.length === 0) return <Empty title={empty} />
  return (
    <>
      {byDay(rows, dayOf).map(({ day, of }) => (
        <div key={day}>
          {day !== dayOf(Date.now()) && <p className={`digits ${styles.day}`}>{day}</p>}
          <ul aria-label={day}>
            {of.map((row) => (
              <li key={keyOf(row)}>{children(row)}</li>
            ))}
          </ul>
        </div>
      ))}
      {query.hasNextPage && (
        <MoreSentinel
          loading={query.isFetchingNextPage}
          failed={query.isFetchNextPageError}
          onMore={() => void query.fetchNextPage()}
        />
      )}
    </>
  )
}

function byDay<T extends Dated>(rows: T[], dayOf: (at: string) => string): { day: string; of: T[] }[] {
  const days: { day: string; of: T[] }[] = []
  for (const row of rows) {
    const day = dayOf(row.created_at)
    const last = lastOf(days)
    if (last?.day === day) last.of.push(row)
    else days.push({ day, of: [row] })
  }
  return days
}
