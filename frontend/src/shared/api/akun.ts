import { call } from '@/shared/api/client'

export function updateNama(nama: string): Promise<null> {
  return call('POST', '/v1/akun/update_nama', { body: { nama } })
}

export function requestOtpPassword(): Promise<null> {
  return call('POST', '/v1/akun/request_otp_password')
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
