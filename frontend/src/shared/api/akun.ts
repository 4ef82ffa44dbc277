import { answer, call } from '@/shared/api/client'

/** What `update_password` answers when the old password is wrong. */
export const SANDI_LAMA_SALAH = 'hashedPassword is not the hash of the given password'

export function updateNama(nama: string): Promise<null> {
  return call('POST', '/v1/akun/update_nama', { body: { nama } })
}

/** Resolves to the sentence that says that the code is on its way. */
export async function requestOtpPassword(): Promise<string> {
  return (await answer('POST', '/v1/akun/request_otp_password')).message
}

/** Answers with a fresh token: older ones end with the old password. */
export function updatePassword(otp: string, lama: string, baru: string): Promise<{ token: string }> {
  return call('POST', '/v1/akun/update_password', {
    body: { otp, password_lama: lama, password_baru: baru },
  })
}

/** The customer's QR as plain base64 PNG, good for five minutes. */
export function getQrcode(signal?: AbortSignal): Promise<string> {
  return call('GET', '/v1/transaksi/get_qrcode', { signal })
}
