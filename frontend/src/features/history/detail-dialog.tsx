import { useQuery } from '@tanstack/react-query'
import { useEffect, useEffectEvent, useMemo } from 'react'
import { type ApiError, explain } from '@/shared/api/error'
import type { HistoryEntry } from '@/shared/api/model'
import { showFailure } from '@/shared/api/show-failure'
import { copy } from '@/shared/copy/copy'
import { Dialog, Foot } from '@/shared/ui/dialog'
import { Spinner } from '@/shared/ui/spinner'
import { detailQuery } from './calls'
import { ComplaintPart } from './complaint-part'
import { DetailRows } from './detail-rows'
import { receiptOf } from './receipt'
import styles from './riwayat-page.module.css'
import { ShareButton } from './share-button'
import { titles } from './titles'

/** The detail of one entry. A detail that cannot be loaded shows a message, and the dialog closes (docs/product.md §8). */
export function DetailDialog({ entry, onClose }: { entry: HistoryEntry; onClose: () => void }) {
  const { ref_type } = entry
  const { data, error } = useQuery(detailQuery(entry))

  const receipt = useMemo(() => data && receiptOf(data), [data])

  const failed = useEffectEvent((failure: Error) => {
    showFailure(failure, (error) => failureTexts(ref_type, error))
    onClose()
  })
  useEffect(() => {
    if (!data && error) failed(error)
  }, [data, error])

  return (
    <Dialog open onClose={onClose} title={titles[ref_type]}>
      {receipt ? (
        <>
          <DetailRows receipt={receipt} />
          {data?.kind === 'snap' && <ComplaintPart entry={entry} use={data.data} />}
          <Foot>
            <ShareButton title={titles[ref_type]} receipt={receipt} />
          </Foot>
        </>
      ) : (
        <Waiting />
      )}
    </Dialog>
  )
}

function failureTexts(kind: HistoryEntry['ref_type'], error: ApiError) {
  if (error.status !== 404) return explain(error)
  return kind === 'snap_transaksi'
    ? { title: copy.history.purchaseFailed, body: copy.history.purchaseFailedBody }
    : { title: copy.history.purchaseNotFound, body: copy.history.purchaseNotFoundBody }
}

function Waiting() {
  return (
    <p className={styles.wait} role="status">
      <Spinner />
      {copy.common.loading}
    </p>
  )
}
