import { api, call } from '@/shared/api/client'
import type { Nothing, TokenData } from '@/shared/api/model'

const COUNTRY_CODE = '62' as const

export interface RegisterForm {
  telp: string
  password: string
  nama: string
}

export function login(telp: string, password: string): Promise<TokenData> {
  const body = { country_code: COUNTRY_CODE, telp, password }
  return call((init) => api.POST('/scan/v1/auth/login', { ...init, body }), { auth: false })
}

export function register({ telp, password, nama }: RegisterForm, otp: string): Promise<TokenData> {
  const body = { otp, telp, country_code: COUNTRY_CODE, password, nama }
  return call((init) => api.POST('/scan/v1/auth/register', { ...init, body }), { auth: false })
}

export function requestOtp(telp: string): Promise<Nothing> {
  const body = { telp, country_code: COUNTRY_CODE }
  return call((init) => api.POST('/scan/v1/auth/request_otp', { ...init, body }), { auth: false })
}

export function requestOtpForgot(telp: string): Promise<Nothing> {
  const body = { telp, country_code: COUNTRY_CODE }
  return call((init) => api.POST('/scan/v1/auth/request_otp_forgot_password', { ...init, body }), {
    auth: false,
  })
}

/** `telp` without prefix; the call carries it with 62 (docs/product.md §3). */
export function forgotPassword(telp: string, otp: string, password: string): Promise<Nothing> {
  const body = { otp, telp: `${COUNTRY_CODE}${telp}`, password }
  return call((init) => api.POST('/scan/v1/auth/forgot_password', { ...init, body }), { auth: false })
}
