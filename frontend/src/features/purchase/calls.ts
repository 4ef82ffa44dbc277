import { infiniteQueryOptions, queryOptions } from '@tanstack/react-query'
import { api, call } from '@/shared/api/client'
import type { AkunEpay, CreateSnapTransaksi, Layanan, Started } from '@/shared/api/model'

/** Services per request (docs/product.md §9). */
const SERVICE_LIMIT = 10
/** The server waits 8 s for the device; a longer wait means trouble with the connection. */
const PURCHASE_TIMEOUT_MS = 20_000

export function getServices(
  query: { qr: string; skip: number; search?: string },
  signal?: AbortSignal,
): Promise<Layanan> {
  const body = { qr: query.qr, limit: SERVICE_LIMIT, skip: query.skip, search: query.search ?? '' }
  return call((init) => api.POST('/scan/v1/transaksi/get_layanan', { ...init, body }), { signal })
}

/** Prefix of the service queries of all machines and searches. */
export const servicesQueries = { queryKey: ['services'] } as const

/** The services of a machine, ten at a time, and the machine as it is now. `qr`: the sticker's text or its typed code. */
export const servicesQuery = (qr: string, search = '') =>
  infiniteQueryOptions({
    queryKey: [...servicesQueries.queryKey, qr, search],
    queryFn: ({ pageParam, signal }) => getServices({ qr, skip: pageParam, search }, signal),
    initialPageParam: 0,
    // The answer has no total: a full page means that there may be more.
    getNextPageParam: (last, _pages, skip) =>
      last.data_layanan.length < SERVICE_LIMIT ? undefined : skip + SERVICE_LIMIT,
  })

export function getEpayOfOwner(idowner: number, signal?: AbortSignal): Promise<AkunEpay[]> {
  const params = { path: { id: idowner } }
  return call((init) => api.GET('/scan/v1/transaksi/get_epayment/{id}', { ...init, params }), { signal })
}

/** Prefix of the wallet queries of all owners. */
export const ownerEpayQueries = { queryKey: ['owner-epay'] } as const

/** The wallets usable at an owner. */
export const ownerEpayQuery = (idowner: number) =>
  queryOptions({
    queryKey: [...ownerEpayQueries.queryKey, idowner],
    queryFn: ({ signal }) => getEpayOfOwner(idowner, signal),
  })

export function createPurchase(body: CreateSnapTransaksi): Promise<Started> {
  return call((init) => api.POST('/scan/v1/transaksi/create_snap_transaksi', { ...init, body }), {
    timeout_ms: PURCHASE_TIMEOUT_MS,
    repeated: true,
  })
}
