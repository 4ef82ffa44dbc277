import { api, call } from '@/shared/api/client'
import type { AkunEpay, CreateSnapTransaksi, Layanan, Started } from '@/shared/api/model'

/** Services asked for at a time (docs/product.md §9). */
export const SERVICE_LIMIT = 10
/** The server waits 8 s for the device; above that the connection is the trouble. */
const PURCHASE_TIMEOUT_MS = 20_000

export function getServices(
  query: { qr: string; skip: number; search?: string },
  signal?: AbortSignal,
): Promise<Layanan> {
  const body = { qr: query.qr, limit: SERVICE_LIMIT, skip: query.skip, search: query.search ?? '' }
  return call((init) => api.POST('/scan/v1/transaksi/get_layanan', { ...init, body }), { signal })
}

/** The accounts usable at an owner. */
export function getEpayOfOwner(idowner: number, signal?: AbortSignal): Promise<AkunEpay[]> {
  const params = { path: { id: idowner } }
  return call((init) => api.GET('/scan/v1/transaksi/get_epayment/{id}', { ...init, params }), { signal })
}

export function createPurchase(body: CreateSnapTransaksi): Promise<Started> {
  return call((init) => api.POST('/scan/v1/transaksi/create_snap_transaksi', { ...init, body }), {
    timeout_ms: PURCHASE_TIMEOUT_MS,
  })
}
