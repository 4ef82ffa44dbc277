import { call } from '@/shared/api/client'
import type { AkunEpay, CreateSnapTransaksi, Layanan } from '@/shared/api/model'

/** Services asked for at a time (product.md §9). */
export const LIMIT_LAYANAN = 10
/** The server waits 8 s for the device; above that the connection is the trouble. */
const PURCHASE_TIMEOUT_MS = 20_000

export function getLayanan(
  query: { qr: string; skip: number; search?: string },
  signal?: AbortSignal,
): Promise<Layanan> {
  return call('POST', '/v1/transaksi/get_layanan', {
    body: { qr: query.qr, limit: LIMIT_LAYANAN, skip: query.skip, search: query.search ?? '' },
    signal,
  })
}

/** The accounts usable at an owner. */
export function getEpayOfOwner(idowner: number, signal?: AbortSignal): Promise<AkunEpay[]> {
  return call('GET', `/v1/transaksi/get_epayment/${idowner}`, { signal })
}

export function createSnapTransaksi(purchase: CreateSnapTransaksi): Promise<unknown> {
  return call('POST', '/v1/transaksi/create_snap_transaksi', {
    body: purchase,
    timeout_ms: PURCHASE_TIMEOUT_MS,
  })
}
