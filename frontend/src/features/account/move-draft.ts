import { secretSlot } from '@/shared/lib/session/secret'
import { isRecord } from '@/shared/lib/session/storage'

/** A move to another number until both codes are typed. */
export interface MoveDraft {
  /** The new number, without prefix. */
  telp: string
  password: string
  /** The code of the old number, once it is typed. */
  otp_lama: string | null
}

/** Lifetime of a code: after it the codes have to be sent again anyway. */
const KEPT_MS = 5 * 60_000

/** Kept while the codes are looked up in two phones. */
export const moveDraft = secretSlot<MoveDraft>(
  'move',
  (value): value is MoveDraft =>
    isRecord(value) &&
    typeof value.telp === 'string' &&
    typeof value.password === 'string' &&
    (value.otp_lama === null || typeof value.otp_lama === 'string'),
  KEPT_MS,
)
