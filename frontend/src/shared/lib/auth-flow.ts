import type { RegisterForm } from '@/shared/api/auth'
import { isRecord, slot } from '@/shared/lib/storage'

const isRegisterForm = (value: unknown): value is RegisterForm =>
  isRecord(value) && [value.telp, value.password, value.nama].every((part) => typeof part === 'string')

/** The filled registration form, until the code has been accepted. Session only. */
export const registerDraft = slot<RegisterForm>('session', 'nyala.daftar', isRegisterForm)

interface ForgotCode {
  telp: string
  otp: string
}

/** The code typed on /forgotPasswordOtp, which /changePassword sends. Session only. */
export const forgotCode = slot<ForgotCode>(
  'session',
  'nyala.lupa',
  (value): value is ForgotCode =>
    isRecord(value) && typeof value.telp === 'string' && typeof value.otp === 'string',
)
