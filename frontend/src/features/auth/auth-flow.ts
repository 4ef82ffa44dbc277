import { secretSlot } from '@/shared/lib/secret'
import { isRecord } from '@/shared/lib/storage'
import type { RegisterForm } from './calls'

interface OfTelp {
  telp: string
}

/** Something secret that belongs to one number. */
function secretOfTelp<T extends OfTelp>(name: string, valid: (value: unknown) => value is T) {
  const place = secretSlot(name, valid)
  return {
    ...place,
    /** What was kept for another number is gone after this. */
    readFor(telp: string): T | null {
      const kept = place.read()
      if (kept?.telp === telp) return kept
      place.clear()
      return null
    },
  }
}

const isRegisterForm = (value: unknown): value is RegisterForm =>
  isRecord(value) && [value.telp, value.password, value.nama].every((part) => typeof part === 'string')

/** The filled registration form, until the code has been accepted. */
export const registerDraft = secretOfTelp<RegisterForm>('register', isRegisterForm)

interface ForgotCode extends OfTelp {
  otp: string
}

/** The code typed on /forgotPasswordOtp, which /changePassword sends. */
export const forgotCode = secretOfTelp<ForgotCode>(
  'forgot',
  (value): value is ForgotCode =>
    isRecord(value) && typeof value.telp === 'string' && typeof value.otp === 'string',
)

/** Another number is at hand: what was typed for the one before goes. */
export function keepOnlyOf(telp: string): void {
  for (const place of [registerDraft, forgotCode]) place.readFor(telp)
}
