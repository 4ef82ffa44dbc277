import { isRecord, PRIVATE_PREFIX, slot } from '@/shared/lib/storage'

export interface SandiForm {
  lama: string
  baru: string
  ulangi: string
}

export const emptySandi: SandiForm = { lama: '', baru: '', ulangi: '' }

/** As long as a code is good: after that the form has to be sent again anyway. */
const KEPT_MS = 5 * 60_000

interface Draft {
  form: SandiForm
  at: number
}

const isForm = (value: unknown): value is SandiForm =>
  isRecord(value) && [value.lama, value.baru, value.ulangi].every((part) => typeof part === 'string')

/**
 * The form while its code is awaited: whoever goes to WhatsApp for the code may find the page reloaded by
 * the phone. For the session only, and gone with the code step.
 */
const draft = slot<Draft>(
  'session',
  `${PRIVATE_PREFIX}sandi`,
  (value): value is Draft => isRecord(value) && typeof value.at === 'number' && isForm(value.form),
)

export function keepDraft(form: SandiForm, now = Date.now()): void {
  draft.write({ form, at: now })
}

export function readDraft(now = Date.now()): SandiForm | null {
  const kept = draft.read()
  return kept && now - kept.at < KEPT_MS ? kept.form : null
}

export const dropDraft = draft.clear
