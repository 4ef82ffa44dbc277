import { useQuery } from '@tanstack/react-query'
import { ChevronRight } from 'lucide-react'
import { Link } from 'react-router'
import { outletPath, paths } from '@/shared/lib/page/paths'
import { Empty } from '@/shared/ui/empty'
import { Failed } from '@/shared/ui/failed'
import { Page } from '@/shared/ui/page'
import { Spinner } from '@/shared/ui/spinner'
import { CallCard } from './call-card'
import { getOutlets, type MyOutlet, outletKeys } from './calls'
import { AsOf, useFresh } from './fresh'
import { KindLine } from './kind-line'
import styles from './outlet.module.css'
import { outletCopy as copy } from './outlet-copy'

const ASK_MS = 20_000

/** The outlets where the customer has an account, with their free machines by kind. */
export function OutletsPage() {
  const query = useQuery({
    queryKey: outletKeys.mine,
    queryFn: ({ signal }) => getOutlets(signal),
    refetchInterval: ASK_MS,
  })
  const { data } = query
  const fresh = useFresh(query.dataUpdatedAt)
  return (
    <Page title={copy.title} back={paths.dashboard}>
      {data ? (
        <>
          <CallCard here={null} />
          {data.length === 0 && <Empty title={copy.none} body={copy.noneBody} />}
          <ul className={styles.outlets}>
            {data.map((one) => (
              <li key={one.idoutlet}>
                <OutletCard outlet={one} fresh={fresh} />
              </li>
            ))}
          </ul>
          {data.length > 0 && <AsOf at_ms={query.dataUpdatedAt} fresh={fresh} />}
        </>
      ) : query.isError ? (
        <Failed error={query.error} pending={query.isFetching} onRetry={() => void query.refetch()} />
      ) : (
        <Spinner large />
      )}
    </Page>
  )
}

function OutletCard({
  outlet: { idoutlet, nama, kota, alamat, tutup, jenis },
  fresh,
}: {
  outlet: MyOutlet
  fresh: boolean
}) {
  return (
    <Link to={outletPath(idoutlet)} className={styles.card}>
      <span className={styles.words}>
        <strong className={styles.name}>{nama}</strong>
        <span className={styles.second}>{[alamat, kota].filter(Boolean).join(', ')}</span>
        {tutup ? (
          <span className={styles.closedText}>
            <span>{copy.closed}</span>: <span>{copy.closedWhy(tutup)}</span>
          </span>
        ) : fresh ? (
          jenis.map((one) => (
            <KindLine
              key={one.jenis}
              kind={one.jenis}
              ready={one.siap}
              running={one.jalan}
              next_ms={one.berikutnya_at === null ? null : Date.parse(one.berikutnya_at)}
            />
          ))
        ) : (
          <span className={styles.unsure}>{copy.unsure}</span>
        )}
      </span>
      <ChevronRight size={22} aria-hidden className={styles.chevron} />
    </Link>
  )
}
