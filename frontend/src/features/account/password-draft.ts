import { secretSlot } from '@/shared/lib/session/secret'
import { isRecord } from '@/shared/lib/session/storage'

export interface PasswordForm {
  current: string
  next: string
  repeat: string
}

export const emptyForm: PasswordForm = { current: '', next: '', repeat: '' }

/** Lifetime of a code: after it the form has to be sent again anyway. */
const KEPT_MS = 5 * 60_000

/** The form as phones store it: with the field names of the first version, so that it survives an update. */
interface KeptDraft {
  lama: string
  baru: string
  ulangi: string
}

const isKept = (value: unknown): value is KeptDraft =>
  isRecord(value) && [value.lama, value.baru, value.ulangi].every((part) => typeof part === 'string')

const place = secretSlot('password', isKept, KEPT_MS)

/** The form while its code is awaited; removed with the code step. */
export const passwordDraft = {
  read(now?: number): PasswordForm | null {
    const kept = place.read(now)
    return kept && { current: kept.lama, next: kept.baru, repeat: kept.ulangi }
  },
  write({ current, next, repeat }: PasswordForm, now?: number): void {
    place.write({ lama: current, baru: next, ulangi: repeat }, now)
  },
  clear: place.clear,
}
