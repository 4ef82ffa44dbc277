import { bearer } from '@/shared/api/ahead'
import { answer, api, call } from '@/shared/api/client'
import type { Nothing, TokenData } from '@/shared/api/model'

/** The server's answer to `update_password` when the old password is wrong. */
export const OLD_PASSWORD_WRONG = 'hashedPassword is not the hash of the given password'

export function updateName(name: string): Promise<Nothing> {
  return call((init) => api.POST('/scan/v1/akun/update_nama', { ...init, body: { nama: name } }))
}

/** Resolves to the sentence that confirms that the code was sent. */
export async function requestOtpPassword(): Promise<string> {
  return (await answer((init) => api.POST('/scan/v1/akun/request_otp_password', init))).message
}

/** Returns a new token: older ones end with the old password. */
export function updatePassword(otp: string, current: string, next: string): Promise<TokenData> {
  const body = { otp, password_lama: current, password_baru: next }
  return call((init) => api.POST('/scan/v1/akun/update_password', { ...init, body }))
}

/**
 * Ends `token` on the server. The app does not wait for it: the request outlives the page. If it fails, the token stays valid, but no
 * client keeps it.
 */
export function endToken(token: string): void {
  const headers = { authorization: bearer(token) }
  const ended = call((init) => api.POST('/scan/v1/auth/logout', { ...init, headers, keepalive: true }), {
    auth: false,
  })
  ended.catch(() => undefined)
}

/** Sends a code to this number and one to the new one. */
export function requestMoveCodes(telp: string): Promise<Nothing> {
  return call((init) => api.POST('/scan/v1/akun/pindah/kode', { ...init, body: { telp } }))
}

export interface MoveRequest {
  /** The new number, without prefix. */
  telp: string
  otp_lama: string
  otp_baru: string
  password: string
}

/** Moves the accounts to the new number. Returns a new token: those of both numbers end. */
export function moveTo(body: MoveRequest): Promise<TokenData> {
  return call((init) => api.POST('/scan/v1/akun/pindah', { ...init, body }))
}

/** Time limit of the copy: it may be large, and the network weak. */
const COPY_TIMEOUT_MS = 60_000

/** A copy of the customer's data, as a zip file. */
export function getData(): Promise<Blob> {
  return call(
    async (init) => {
      const { data, error, response } = await api.GET('/scan/v1/akun/data', { ...init, parseAs: 'blob' })
      return { data: data && { message: '', data }, error, response }
    },
    { timeout_ms: COPY_TIMEOUT_MS },
  )
}

/** Deletes the account for good. `given_up`: the balance that ends with it, rupiah; 0 for none. */
export function deleteAccount(password: string, given_up: number): Promise<Nothing> {
  const body = { password, ...(given_up > 0 && { lepas_saldo: given_up }) }
  return call((init) => api.POST('/scan/v1/akun/hapus', { ...init, body }))
}
