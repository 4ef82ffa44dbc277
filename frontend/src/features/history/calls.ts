import { infiniteQueryOptions, queryOptions } from '@tanstack/react-query'
import { api, call } from '@/shared/api/client'
import type {
  History,
  HistoryEntry,
  MoveDetail,
  OpeningDetail,
  PayoutDetail,
  RefundDetail,
  ReversalDetail,
  SnapHistoryDetail,
  TopUpDetail,
} from '@/shared/api/model'
import { lastOf } from '@/shared/lib/text/last-of'

/** Rows of history per request (docs/product.md §9). */
const HISTORY_LIMIT = 20

/** docs/product.md §9: all (empty), purchases, top-ups. */
const KINDS = ['', 'snap_transaksi', 'pembelian_emoney'] as const
export type HistoryKind = (typeof KINDS)[number]

/** An unknown value means all. */
export const asHistoryKind = (text: string | null): HistoryKind => KINDS.find((kind) => kind === text) ?? ''

export interface PageParam {
  skip: number
  /** The moment of the first page: later pages continue from it, even if rows were added. */
  until: string | null
}

const FIRST: PageParam = { skip: 0, until: null }

function listHistory(kind: HistoryKind, { skip, until }: PageParam, signal?: AbortSignal): Promise<History> {
  const body = {
    skip,
    limit: HISTORY_LIMIT,
    jenis: kind,
    outlet: '',
    ...(until === null ? {} : { sampai: until }),
  }
  return call((init) => api.POST('/scan/v1/transaksi/list_history', { ...init, body }), { signal })
}

/** The page after the last one; undefined when the last one was not full. */
export function nextPage(pages: History[]): PageParam | undefined {
  const last = lastOf(pages)
  if (!last || last.returned < HISTORY_LIMIT) return undefined
  return { skip: pages.length * HISTORY_LIMIT, until: pages[0]?.sampai ?? null }
}

/** Prefix of the queries under every filter. */
export const historyQueries = { queryKey: ['history'] } as const

/** The history under one filter, page by page. */
export const historyQuery = (kind: HistoryKind) =>
  infiniteQueryOptions({
    queryKey: [...historyQueries.queryKey, kind],
    queryFn: ({ pageParam, signal }) => listHistory(kind, pageParam, signal),
    initialPageParam: FIRST,
    getNextPageParam: (_last, pages) => nextPage(pages),
  })

function getPurchaseDetail(id: string, signal?: AbortSignal): Promise<SnapHistoryDetail> {
  const params = { path: { id } }
  return call((init) => api.GET('/scan/v1/transaksi/get_detail_snap_transaksi/{id}', { ...init, params }), {
    signal,
  })
}

function getDeletionDetail(id: string, signal?: AbortSignal): Promise<SnapHistoryDetail> {
  const params = { path: { id } }
  return call((init) => api.GET('/scan/v1/transaksi/get_detail_snap_hapus/{id}', { ...init, params }), {
    signal,
  })
}

function getTopUpDetail(id: string, signal?: AbortSignal): Promise<TopUpDetail> {
  const params = { path: { id } }
  return call((init) => api.GET('/scan/v1/epayment/get_epayment/{id}', { ...init, params }), { signal })
}

/** `entry` selects the refund when a purchase was refunded more than once. */
function getRefundDetail(id: string, entry: number, signal?: AbortSignal): Promise<RefundDetail> {
  const params = { path: { id }, query: { entri: entry } }
  return call((init) => api.GET('/scan/v1/epayment/get_detail_refund/{id}', { ...init, params }), { signal })
}

/** Finds the reversal by the top-up's number. */
function getReversalDetail(id: string, signal?: AbortSignal): Promise<ReversalDetail> {
  const params = { path: { id } }
  return call((init) => api.GET('/scan/v1/epayment/get_detail_batal/{id}', { ...init, params }), { signal })
}

function getPayoutDetail(id: string, signal?: AbortSignal): Promise<PayoutDetail> {
  const params = { path: { id } }
  return call((init) => api.GET('/scan/v1/epayment/get_detail_penarikan/{id}', { ...init, params }), {
    signal,
  })
}

function getMoveDetail(id: string, signal?: AbortSignal): Promise<MoveDetail> {
  const params = { path: { id } }
  return call((init) => api.GET('/scan/v1/epayment/get_detail_pindah/{id}', { ...init, params }), { signal })
}

function getOpeningDetail(id: string, signal?: AbortSignal): Promise<OpeningDetail> {
  const params = { path: { id } }
  return call((init) => api.GET('/scan/v1/epayment/get_detail_saldo_awal/{id}', { ...init, params }), {
    signal,
  })
}

export type Detail =
  | { kind: 'snap'; data: SnapHistoryDetail }
  | { kind: 'payout'; data: PayoutDetail }
  | { kind: 'move'; data: MoveDetail; value: number }
  | { kind: 'opening'; data: OpeningDetail }
  | { kind: 'topUp'; data: TopUpDetail }
  | { kind: 'reversal'; data: ReversalDetail }
  | { kind: 'refund'; data: RefundDetail }
  /** The entry says all that there is. */
  | { kind: 'balance'; data: HistoryEntry }

async function fetchDetail(entry: HistoryEntry, signal: AbortSignal): Promise<Detail> {
  const { ref_id, ref_type, entri, value } = entry
  switch (ref_type) {
    case 'snap_transaksi':
      return { kind: 'snap', data: await getPurchaseDetail(ref_id, signal) }
    case 'snap_transaksi_hapus':
      return { kind: 'snap', data: await getDeletionDetail(ref_id, signal) }
    case 'pembelian_emoney':
      return { kind: 'topUp', data: await getTopUpDetail(ref_id, signal) }
    case 'pembelian_emoney_batal':
      return { kind: 'reversal', data: await getReversalDetail(ref_id, signal) }
    case 'snap_transaksi_refund':
      return { kind: 'refund', data: await getRefundDetail(ref_id, entri, signal) }
    case 'penarikan':
      return { kind: 'payout', data: await getPayoutDetail(ref_id, signal) }
    case 'saldo_hangus':
      return { kind: 'balance', data: entry }
    case 'pindah_masuk':
    case 'pindah_keluar':
      return { kind: 'move', data: await getMoveDetail(ref_id, signal), value }
    case 'saldo_awal':
      return { kind: 'opening', data: await getOpeningDetail(ref_id, signal) }
  }
}

/** The detail of one entry. */
export const detailQuery = (entry: HistoryEntry) =>
  queryOptions({
    queryKey: ['detail', entry.ref_type, String(entry.ref_id), entry.entri],
    queryFn: ({ signal }) => fetchDetail(entry, signal),
  })

/** `id`: the receipt number. */
export function reportProblem(id: string, alasan: string, note: string): Promise<unknown> {
  const body = { id, alasan, ...(note && { catatan: note }) }
  return call((init) => api.POST('/scan/v1/transaksi/masalah', { ...init, body }))
}
