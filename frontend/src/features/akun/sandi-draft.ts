import { secretSlot } from '@/shared/lib/secret'
import { isRecord } from '@/shared/lib/storage'

export interface SandiForm {
  lama: string
  baru: string
  ulangi: string
}

export const emptySandi: SandiForm = { lama: '', baru: '', ulangi: '' }

/** As long as a code is good: after that the form has to be sent again anyway. */
const KEPT_MS = 5 * 60_000

const isForm = (value: unknown): value is SandiForm =>
  isRecord(value) && [value.lama, value.baru, value.ulangi].every((part) => typeof part === 'string')

/** The form while its code is awaited; gone with the code step. */
export const sandiDraft = secretSlot('password', isForm, KEPT_MS)
