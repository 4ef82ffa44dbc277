import { call } from '@/shared/api/client'
import type { History, RefundDetail, SnapHistoryDetail, TopUpDetail } from '@/shared/api/model'

/** Rows of history asked for at a time (product.md §9). */
export const LIMIT_RIWAYAT = 20

/** product.md §9: all (empty), uses, top-ups. */
export type Jenis = '' | 'snap_transaksi' | 'pembelian_emoney'

/** `sampai` of the first page keeps later pages steady while rows are added. */
export function listHistory(
  query: { skip: number; jenis: Jenis; sampai?: string | null },
  signal?: AbortSignal,
): Promise<History> {
  return call('POST', '/v1/transaksi/list_history', {
    body: {
      skip: query.skip,
      limit: LIMIT_RIWAYAT,
      jenis: query.jenis,
      outlet: '',
      ...(query.sampai ? { sampai: query.sampai } : {}),
    },
    signal,
  })
}

const enc = (id: string | number) => encodeURIComponent(String(id))

export function getDetailSnap(id: string | number, signal?: AbortSignal): Promise<SnapHistoryDetail> {
  return call('GET', `/v1/transaksi/get_detail_snap_transaksi/${enc(id)}`, { signal })
}

export function getDetailHapus(id: string | number, signal?: AbortSignal): Promise<SnapHistoryDetail> {
  return call('GET', `/v1/transaksi/get_detail_snap_hapus/${enc(id)}`, { signal })
}

export function getDetailTopUp(id: string | number, signal?: AbortSignal): Promise<TopUpDetail> {
  return call('GET', `/v1/epayment/get_epayment/${enc(id)}`, { signal })
}

/** `entri` says which one when a use was refunded more than once. */
export function getDetailRefund(
  id: string | number,
  entri: number,
  signal?: AbortSignal,
): Promise<RefundDetail> {
  return call('GET', `/v1/epayment/get_detail_refund/${enc(id)}?entri=${entri}`, { signal })
}
