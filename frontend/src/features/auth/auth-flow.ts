import { secretSlot } from '@/shared/lib/session/secret'
import { isRecord } from '@/shared/lib/session/storage'
import type { RegisterForm } from './calls'

interface OfTelp {
  telp: string
}

/** A secret that belongs to one number. */
function secretOfTelp<T extends OfTelp>(name: string, valid: (value: unknown) => value is T) {
  const place = secretSlot(name, valid)
  return {
    ...place,
    /** Reads the secret for this number; a secret of another number is removed. */
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

/** The customer uses another number: secrets of the previous one are removed. */
export function keepOnlyOf(telp: string): void {
  for (const place of [registerDraft, forgotCode]) place.readFor(telp)
}
