import { RefreshCw } from 'lucide-react'
import { useEffect, useRef, useState } from 'react'
import { useSearchParams } from 'react-router'
import type { HistoryEntry } from '@/shared/api/model'
import { showFailure } from '@/shared/api/show-failure'
import { copy } from '@/shared/copy/copy'
import { paths } from '@/shared/lib/page/paths'
import { toast } from '@/shared/lib/toast/toast'
import { Button } from '@/shared/ui/button'
import { Empty } from '@/shared/ui/empty'
import { IconButton } from '@/shared/ui/icon-button'
import { MoreSentinel } from '@/shared/ui/more-sentinel'
import { Page } from '@/shared/ui/page'
import { Spinner } from '@/shared/ui/spinner'
import { asHistoryKind, type HistoryKind } from './calls'
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
  useShowFailure(history.error)

  return (
    <Page
      title={copy.bar.history}
      back={paths.dashboard}
      backAlways
      bar
      trailing={
        <Refresh
          pending={history.isRefetching && !history.isFetchingNextPage}
          onRefresh={async () => {
            const { isSuccess } = await history.refresh()
            if (isSuccess) toast.success(copy.history.updated)
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

/** The filter is kept in the address, so that back and a reload restore it; the bar's link has none. */
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
  const { list } = history
  if (list.kind === 'loading') return <Skeleton />
  if (list.kind === 'failed') {
    const { pending, onRetry } = list.failure
    return (
      <Empty
        title={copy.history.loadFailed}
        action={
          <Button pending={pending} onClick={onRetry}>
            {copy.common.tryAgain}
          </Button>
        }
      />
    )
  }
  if (list.data.length === 0) return <Empty title={copy.history.none} body={copy.history.emptyBody} />
  return (
    <>
      <HistoryList entries={list.data} onOpen={onOpen} />
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

/** A failed list shows one message at the top, whatever else is on the screen (docs/product.md §8). */
function useShowFailure(error: Error | null): void {
  useEffect(() => {
    if (error) showFailure(error, undefined, { atTop: true })
  }, [error])
}

function Refresh({ pending, onRefresh }: { pending: boolean; onRefresh: () => void }) {
  return (
    <IconButton
      label={copy.history.refresh}
      className={styles.refresh}
      aria-busy={pending || undefined}
      onClick={() => !pending && onRefresh()}
    >
      {pending ? <Spinner /> : <RefreshCw size={22} aria-hidden />}
    </IconButton>
  )
}

/** A placeholder for the first month. */
function Skeleton() {
  return (
    <div aria-busy="true">
      <span className="visually-hidden" role="status">
        {copy.common.loading}
      </span>
      <div className={styles.skeleton} aria-hidden="true" />
    </div>
  )
}
