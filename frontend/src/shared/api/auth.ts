import { call } from '@/shared/api/client'

const COUNTRY_CODE = '62'

export interface RegisterForm {
  telp: string
  password: string
  nama: string
}

export function login(telp: string, password: string): Promise<{ token: string }> {
  return call('POST', '/v1/auth/login', { auth: false, body: { country_code: COUNTRY_CODE, telp, password } })
}

export function register(form: RegisterForm, otp: string): Promise<{ token: string }> {
  return call('POST', '/v1/auth/register', {
    auth: false,
    body: { otp, telp: form.telp, country_code: COUNTRY_CODE, password: form.password, nama: form.nama },
  })
}

export function requestOtp(telp: string): Promise<null> {
  return call('POST', '/v1/auth/request_otp', { auth: false, body: { telp, country_code: COUNTRY_CODE } })
}

export function requestOtpForgot(telp: string): Promise<null> {
  return call('POST', '/v1/auth/request_otp_forgot_password', {
    auth: false,
    body: { telp, country_code: COUNTRY_CODE },
  })
}

/** `telp` without prefix; the call carries it with 62 (product.md §3). */
export function forgotPassword(telp: string, otp: string, password: string): Promise<null> {
  return call('POST', '/v1/auth/forgot_password', {
    auth: false,
    body: { otp, telp: `${COUNTRY_CODE}${telp}`, password },
  })
}
