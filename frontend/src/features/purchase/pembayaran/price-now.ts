import type { ApiError } from '@/shared/api/error'
import type { PriceNow } from '@/shared/api/model'
import { isRecord } from '@/shared/lib/session/storage'

/** The new price, where the server refused a payment because of it (docs/contract.md §2); else null. */
export function priceNowOf({ status, data }: ApiError): PriceNow | null {
  return status === 409 && isPrice(data) ? data : null
}

const isPrice = (data: unknown): data is PriceNow =>
  isRecord(data) && typeof data.idlayanan === 'number' && typeof data.harga === 'number'
