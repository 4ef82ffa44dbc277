import { CUSTOMER_PREFIX, isRecord, slot } from '@/shared/lib/session/storage'
import type { BillRequest } from './calls'

/** A bill that this phone has asked for: a reload, a restart or a lost answer continues with it. */
export interface KeptBill {
  /** Its `id` stays the same for every attempt, so that the server makes one bill. */
  request: BillRequest
  /** Null until the server has answered. */
  idtagihan: string | null
  /** Epoch ms of the phone. */
  asked_ms: number
}

/** A bill can be paid for half an hour, and the server asks the provider for a quarter of an hour after it. */
const KEPT_MS = 60 * 60_000

const isKept = (value: unknown): value is KeptBill =>
  isRecord(value) &&
  isRecord(value.request) &&
  typeof value.request.id === 'string' &&
  (value.idtagihan === null || typeof value.idtagihan === 'string') &&
  typeof value.asked_ms === 'number'

/** Where a customer's bill is kept: another customer of the same phone has another place. */
export function keptBillOf(customer: string) {
  const place = slot<KeptBill>('local', `${CUSTOMER_PREFIX}${customer}.qris`, isKept)
  return {
    ...place,
    read(now = Date.now()): KeptBill | null {
      const kept = place.read()
      return kept && Math.abs(now - kept.asked_ms) < KEPT_MS ? kept : null
    },
  }
}
