import { RotateCw } from 'lucide-react'
import { useEffect, useRef, useState } from 'react'
import { useSearchParams } from 'react-router'
import { explain } from '@/shared/api/error'
import { asHistoryKind, type HistoryKind } from '@/shared/api/history'
import type { HistoryEntry } from '@/shared/api/model'
import { added } from '@/shared/copy/added'
import { spec } from '@/shared/copy/spec'
import { paths } from '@/shared/lib/paths'
import { toast } from '@/shared/lib/toast'
import { Button } from '@/shared/ui/button'
import { Empty } from '@/shared/ui/empty'
import { IconButton } from '@/shared/ui/icon-button'
import { MoreSentinel } from '@/shared/ui/more-sentinel'
import { Page } from '@/shared/ui/page'
import { Spinner } from '@/shared/ui/spinner'
import { DetailDialog } from './detail-dialog'
import { Filter } from './filter'
import { HistoryList } from './history-list'
import styles from './riwayat-page.module.css'
import { useHistory } from './use-history'
import { usePlace, useVisit } from './use-place'

export default function RiwayatPage() {
  const [kind, setKind] = useKind()
  const [opened, setOpened] = useState<HistoryEntry | null>(null)
  const visit = useVisit()
  const history = useHistory(kind, visit)
  const list = useRef<HTMLDivElement>(null)
  usePlace(list, visit, history)
  useTellFailure(history.error)

  return (
    <Page
      title={spec.history}
      back={paths.dashboard}
      backAlways
      bar
      trailing={
        <Refresh
          pending={history.isRefetching && !history.isFetchingNextPage}
          onRefresh={async () => {
            const { isSuccess } = await history.refresh()
            if (isSuccess) toast.success(added.history.updated)
          }}
        />
      }
    >
      <Filter value={kind} onChange={setKind} />
      <div ref={list} className={styles.list}>
        <Body history={history} onOpen={setOpened} />
      </div>
      {opened && <DetailDialog entry={opened} onClose={() => setOpened(null)} />}
    </Page>
  )
}

/** In the address, so that back and a reload find it; the bar's link has none. */
function useKind(): [HistoryKind, (kind: HistoryKind) => void] {
  const [params, setParams] = useSearchParams()
  return [
    asHistoryKind(params.get('jenis')),
    (kind) => setParams(kind === '' ? {} : { jenis: kind }, { replace: true }),
  ]
}

interface BodyProps {
  history: ReturnType<typeof useHistory>
  onOpen: (entry: HistoryEntry) => void
}

function Body({ history, onOpen }: BodyProps) {
  const { entries } = history
  if (!entries && history.error) {
    return (
      <Empty
        title={added.history.loadFailed}
        action={
          <Button pending={history.isFetching} onClick={() => history.refetch()}>
            {added.common.tryAgain}
          </Button>
        }
      />
    )
  }
  if (!entries) return <Skeleton />
  if (entries.length === 0) return <Empty title={spec.noTransactions} body={added.history.emptyBody} />
  return (
    <>
      <HistoryList entries={entries} onOpen={onOpen} />
      {history.hasNextPage && (
        <MoreSentinel
          loading={history.isFetching}
          failed={history.isFetchNextPageError}
          onMore={() => {
            if (!history.isFetching) void history.fetchNextPage()
          }}
        />
      )}
    </>
  )
}

/** A failed list is told once at the top, whatever is still on the screen (docs/product.md §8). */
function useTellFailure(error: Error | null): void {
  useEffect(() => {
    if (!error) return
    const { title, body } = explain(error)
    toast.failure(title, body)
  }, [error])
}

function Refresh({ pending, onRefresh }: { pending: boolean; onRefresh: () => void }) {
  return (
    <IconButton
      label={added.history.refresh}
      className={styles.refresh}
      aria-busy={pending || undefined}
      onClick={() => !pending && onRefresh()}
    >
      {pending ? <Spinner /> : <RotateCw size={22} aria-hidden />}
    </IconButton>
  )
}

/** Where the first cards will be. */
function Skeleton() {
  return (
    <div aria-busy="true">
      <span className="visually-hidden" role="status">
        {added.common.loading}
      </span>
      <div className={styles.skeleton} aria-hidden="true">
        <div />
        <div />
        <div />
        <div />
      </div>
    </div>
  )
}
