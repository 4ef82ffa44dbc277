import { api, call } from '@/shared/api/client'
import type { History, RefundDetail, SnapHistoryDetail, TopUpDetail } from '@/shared/api/model'

/** Rows of history asked for at a time (product.md §9). */
export const LIMIT_RIWAYAT = 20

/** product.md §9: all (empty), uses, top-ups. */
const KINDS = ['', 'snap_transaksi', 'pembelian_emoney'] as const
export type Jenis = (typeof KINDS)[number]

/** All, for what is none of them. */
export const asJenis = (text: string | null): Jenis => KINDS.find((kind) => kind === text) ?? ''

/** `sampai` of the first page keeps later pages steady while rows are added. */
export function listHistory(
  query: { skip: number; jenis: Jenis; sampai: string | null },
  signal?: AbortSignal,
): Promise<History> {
  const { skip, jenis, sampai } = query
  const body = { skip, limit: LIMIT_RIWAYAT, jenis, outlet: '', ...(sampai === null ? {} : { sampai }) }
  return call((init) => api.POST('/scan/v1/transaksi/list_history', { ...init, body }), { signal })
}

export function getDetailSnap(id: string, signal?: AbortSignal): Promise<SnapHistoryDetail> {
  const params = { path: { id } }
  return call((init) => api.GET('/scan/v1/transaksi/get_detail_snap_transaksi/{id}', { ...init, params }), {
    signal,
  })
}

export function getDetailHapus(id: string, signal?: AbortSignal): Promise<SnapHistoryDetail> {
  const params = { path: { id } }
  return call((init) => api.GET('/scan/v1/transaksi/get_detail_snap_hapus/{id}', { ...init, params }), {
    signal,
  })
}

export function getDetailTopUp(id: string, signal?: AbortSignal): Promise<TopUpDetail> {
  const params = { path: { id } }
  return call((init) => api.GET('/scan/v1/epayment/get_epayment/{id}', { ...init, params }), { signal })
}

/** `entri` says which one when a use was refunded more than once. */
export function getDetailRefund(id: string, entri: number, signal?: AbortSignal): Promise<RefundDetail> {
  const params = { path: { id }, query: { entri } }
  return call((init) => api.GET('/scan/v1/epayment/get_detail_refund/{id}', { ...init, params }), { signal })
}
