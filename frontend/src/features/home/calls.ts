import { api, call } from '@/shared/api/client'
import type { Nothing } from '@/shared/api/model'

/** Reports that the laundry of this purchase is out of its machine. `id`: the receipt number. */
export function markFetched(id: string): Promise<Nothing> {
  return call((init) => api.POST('/scan/v1/transaksi/ambil', { ...init, body: { id } }))
}
