import { useQuery } from '@tanstack/react-query'
import { type ReactNode, useEffect, useRef } from 'react'
import { asApiError, explain } from '@/shared/api/error'
import {
  getDeletionDetail,
  getPurchaseDetail,
  getRefundDetail,
  getTopUpDetail,
  getVoidDetail,
} from '@/shared/api/history'
import { keys } from '@/shared/api/keys'
import type {
  HistoryEntry,
  RefundDetail,
  SnapHistoryDetail,
  TopUpDetail,
  VoidDetail,
} from '@/shared/api/model'
import { added } from '@/shared/copy/added'
import { spec } from '@/shared/copy/spec'
import { toast } from '@/shared/lib/toast'
import { Dialog } from '@/shared/ui/dialog'
import { Spinner } from '@/shared/ui/spinner'
import { RefundRows, SnapRows, TopUpRows, VoidRows } from './detail-rows'
import styles from './riwayat-page.module.css'
import { titles } from './titles'

type Detail =
  | { kind: 'snap'; data: SnapHistoryDetail }
  | { kind: 'topUp'; data: TopUpDetail }
  | { kind: 'void'; data: VoidDetail }
  | { kind: 'refund'; data: RefundDetail }

async function fetchDetail({ ref_id, ref_type, entri }: HistoryEntry, signal: AbortSignal): Promise<Detail> {
  switch (ref_type) {
    case 'snap_transaksi':
      return { kind: 'snap', data: await getPurchaseDetail(ref_id, signal) }
    case 'snap_transaksi_hapus':
      return { kind: 'snap', data: await getDeletionDetail(ref_id, signal) }
    case 'pembelian_emoney':
      return { kind: 'topUp', data: await getTopUpDetail(ref_id, signal) }
    case 'pembelian_emoney_batal':
      return { kind: 'void', data: await getVoidDetail(ref_id, signal) }
    case 'snap_transaksi_refund':
      return { kind: 'refund', data: await getRefundDetail(ref_id, entri, signal) }
  }
}

/** One entry's detail. What cannot be shown is told, and the dialog closes (docs/product.md §8). */
export function DetailDialog({ entry, onClose }: { entry: HistoryEntry; onClose: () => void }) {
  const { ref_type, ref_id, entri } = entry
  const detail = useQuery({
    queryKey: keys.detail(ref_type, ref_id, entri),
    queryFn: ({ signal }) => fetchDetail(entry, signal),
  })

  const close = useRef(onClose)
  close.current = onClose
  const { data, error } = detail
  useEffect(() => {
    if (data || !error) return
    tellFailure(ref_type, error)
    close.current()
  }, [data, error, ref_type])

  return (
    <Dialog open onClose={onClose} title={titles[ref_type]}>
      {data ? <dl className={styles.detail}>{rows(data)}</dl> : <Waiting />}
    </Dialog>
  )
}

function rows(detail: Detail): ReactNode {
  switch (detail.kind) {
    case 'snap':
      return <SnapRows detail={detail.data} />
    case 'topUp':
      return <TopUpRows detail={detail.data} />
    case 'void':
      return <VoidRows detail={detail.data} />
    case 'refund':
      return <RefundRows detail={detail.data} />
  }
}

function tellFailure(kind: HistoryEntry['ref_type'], error: Error): void {
  if (asApiError(error).status !== 404) {
    const { title, body } = explain(error)
    toast.failure(title, body)
  } else if (kind === 'snap_transaksi') {
    toast.failure(spec.purchaseFailed, added.history.purchaseFailedBody)
  } else {
    toast.failure(spec.purchaseNotFound, added.history.purchaseNotFoundBody)
  }
}

function Waiting() {
  return (
    <p className={styles.wait} role="status">
      <Spinner />
      {added.common.loading}
    </p>
  )
}
