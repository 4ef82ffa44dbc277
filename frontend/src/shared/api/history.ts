import { api, call } from '@/shared/api/client'
import type { History, RefundDetail, SnapHistoryDetail, TopUpDetail, VoidDetail } from '@/shared/api/model'

/** Rows of history asked for at a time (docs/product.md §9). */
export const HISTORY_LIMIT = 20

/** docs/product.md §9: all (empty), uses, top-ups. */
const KINDS = ['', 'snap_transaksi', 'pembelian_emoney'] as const
export type HistoryKind = (typeof KINDS)[number]

/** All, for what is none of them. */
export const asHistoryKind = (text: string | null): HistoryKind => KINDS.find((kind) => kind === text) ?? ''

/** `until` of the first page keeps later pages steady while rows are added. */
export function listHistory(
  query: { skip: number; kind: HistoryKind; until: string | null },
  signal?: AbortSignal,
): Promise<History> {
  const { skip, kind, until } = query
  const body = {
    skip,
    limit: HISTORY_LIMIT,
    jenis: kind,
    outlet: '',
    ...(until === null ? {} : { sampai: until }),
  }
  return call((init) => api.POST('/scan/v1/transaksi/list_history', { ...init, body }), { signal })
}

export function getPurchaseDetail(id: string, signal?: AbortSignal): Promise<SnapHistoryDetail> {
  const params = { path: { id } }
  return call((init) => api.GET('/scan/v1/transaksi/get_detail_snap_transaksi/{id}', { ...init, params }), {
    signal,
  })
}

export function getDeletionDetail(id: string, signal?: AbortSignal): Promise<SnapHistoryDetail> {
  const params = { path: { id } }
  return call((init) => api.GET('/scan/v1/transaksi/get_detail_snap_hapus/{id}', { ...init, params }), {
    signal,
  })
}

export function getTopUpDetail(id: string, signal?: AbortSignal): Promise<TopUpDetail> {
  const params = { path: { id } }
  return call((init) => api.GET('/scan/v1/epayment/get_epayment/{id}', { ...init, params }), { signal })
}

/** `entry` says which one when a use was refunded more than once. */
export function getRefundDetail(id: string, entry: number, signal?: AbortSignal): Promise<RefundDetail> {
  const params = { path: { id }, query: { entri: entry } }
  return call((init) => api.GET('/scan/v1/epayment/get_detail_refund/{id}', { ...init, params }), { signal })
}

/** By the top-up's number. */
export function getVoidDetail(id: string, signal?: AbortSignal): Promise<VoidDetail> {
  const params = { path: { id } }
  return call((init) => api.GET('/scan/v1/epayment/get_detail_batal/{id}', { ...init, params }), { signal })
}
