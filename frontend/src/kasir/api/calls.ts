import { ops } from '@/kasir/api/client'
import type {
  ApprovedAction,
  CustomerRef,
  FoundCustomer,
  LoggedIn,
  Package,
  Paired,
  Rows,
  Shift,
  ShiftNow,
  ThisDevice,
  TopUpBody,
  TopUpMade,
  TopUpRow,
  TopUpVoided,
} from '@/kasir/api/types'

export const pair = (kode: string) => ops<Paired>('POST', 'pasang', { body: { kode } })
export const getDevice = (signal?: AbortSignal) => ops<ThisDevice>('GET', 'perangkat/saya', { signal })

export const logIn = (body: { idpetugas: number; pin: string; pin_baru?: string }) =>
  ops<LoggedIn>('POST', 'masuk', { body, pin: true })
export const logOut = () => ops<null>('POST', 'keluar')

/** A supervisor's PIN for one action on one object, as the text that the call brings in `X-Izin`. */
export async function approve(body: {
  idpetugas: number
  pin: string
  aksi: ApprovedAction
  objek: string
}): Promise<string> {
  return (await ops<{ izin: string }>('POST', 'izin', { body, pin: true })).izin
}

export const findCustomer = (ref: CustomerRef) => ops<FoundCustomer>('POST', 'pelanggan/cari', { body: ref })
export const getPackages = (signal?: AbortSignal) => ops<Package[]>('GET', 'paket', { signal })

export const topUp = (key: string, body: TopUpBody, izin?: string) =>
  ops<TopUpMade>('POST', 'topup', { key, body, izin })
export const voidTopUp = (key: string, id: string, alasan: string, izin?: string) =>
  ops<TopUpVoided>('POST', `topup/${encodeURIComponent(id)}/batal`, { key, body: { alasan }, izin })
export const getTopUps = (limit: number, signal?: AbortSignal) =>
  ops<Rows<TopUpRow>>('GET', `topup?limit=${limit}`, { signal })

export const getShift = (signal?: AbortSignal) => ops<ShiftNow>('GET', 'shift', { signal })
export const openShift = (key: string, modal: number) => ops<Shift>('POST', 'shift', { key, body: { modal } })
