import { queryOptions } from '@tanstack/react-query'
import { api, call } from '@/shared/api/client'

/** The customer's QR as plain base64 PNG, valid for five minutes. */
function getQrcode(signal?: AbortSignal): Promise<string> {
  return call((init) => api.GET('/scan/v1/transaksi/get_qrcode', init), { signal })
}

export const qrcodeQuery = () =>
  queryOptions({ queryKey: ['qrcode'], queryFn: ({ signal }) => getQrcode(signal), staleTime: 0 })
