import type { Schemas } from '@/shared/api/model'
import { ops } from '@/till/api/client'
import {
  type Approval,
  type Approving,
  type Attention,
  type CashKind,
  type Counted,
  type CustomerRef,
  type FoundCustomer,
  type ListedTopUp,
  type LoggedIn,
  type LogIn,
  MAX_PACKAGES,
  type Me,
  type MoneyBack,
  type Package,
  type Paired,
  type Rows,
  type Shift,
  type ShiftClosed,
  type ShiftNow,
  type ShopOutlet,
  type ThisDevice,
  type Ticket,
  type TopUpBody,
  type TopUpMade,
  type TopUpReversed,
  type TopUpRow,
  type UseRow,
} from '@/till/api/types'

export const pair = (kode: string) =>
  ops<Paired>('POST', 'pasang', { body: { kode } satisfies Schemas['Pasang'] })
export const getDevice = (signal?: AbortSignal) => ops<ThisDevice>('GET', 'perangkat/saya', { signal })

export const logIn = (body: LogIn) => ops<LoggedIn>('POST', 'masuk', { body, pin: true })
/** The ticket for the socket: valid once, for a minute. */
export const getTicket = () => ops<Ticket>('POST', 'soket')
export const getMe = (signal?: AbortSignal) => ops<Me>('GET', 'saya', { signal })
export const getOutlets = (signal?: AbortSignal) => ops<ShopOutlet[]>('GET', 'outlet', { signal })
/** What needs a person, at all outlets in sight. */
export const getAttention = (signal?: AbortSignal) => ops<Attention[]>('GET', 'perhatian', { signal })
export const logOut = () => ops<null>('POST', 'keluar')

/** Requests approval with a supervisor's PIN for one action on one object; returns the text that the call sends in `X-Izin`. */
export async function approve(body: Approving): Promise<string> {
  return (await ops<Approval>('POST', 'izin', { body, pin: true })).izin
}

export const findCustomer = (ref: CustomerRef) =>
  ops<FoundCustomer>('POST', 'pelanggan/cari', { body: ref satisfies Schemas['FindPelanggan'] })
/** The packages on sale, cheapest first. */
export async function getPackages(signal?: AbortSignal): Promise<Package[]> {
  const { baris } = await ops<Rows<Package>>('GET', `paket?limit=${MAX_PACKAGES}`, { signal })
  return baris.filter(({ aktif }) => aktif).sort((a, b) => a.harga - b.harga)
}

export const topUp = (key: string, body: TopUpBody, izin?: string) =>
  ops<TopUpMade>('POST', 'topup', { key, body: body satisfies Schemas['TopUp'], izin, repeated: true })
export const getTopUps = (limit: number, signal?: AbortSignal) =>
  ops<Rows<ListedTopUp>>('GET', `topup?limit=${limit}`, { signal })

export const getShift = (signal?: AbortSignal) => ops<ShiftNow>('GET', 'shift', { signal })

/** The query of a page that continues from `before`. */
const page = (before: string | number | null) =>
  before === null ? '' : `?sebelum=${encodeURIComponent(before)}`
export const getTopUpPage = (before: string | number | null, signal?: AbortSignal) =>
  ops<Rows<ListedTopUp>>('GET', `topup${page(before)}`, { signal })
/** One top-up with its amounts, even those that the list leaves out. */
export const getTopUp = (id: string, signal?: AbortSignal) =>
  ops<TopUpRow>('GET', `topup/${encodeURIComponent(id)}`, { signal })
export const getUsePage = (before: string | number | null, signal?: AbortSignal) =>
  ops<Rows<UseRow>>('GET', `pemakaian${page(before)}`, { signal })

/** A call that moves money, as data that can be stored and sent again (lib/money-calls.ts). `T` is its answer. */
export interface MoneyRequest<T> {
  path: string
  body: object
  /** The call contains a PIN: a 401 is about the PIN, and the call is never stored. */
  pin?: boolean
  /** Never set: it only ties `T` to the request. */
  answer?: T
}

export const sendMoney = <T>(key: string, { path, body, pin = false }: MoneyRequest<T>, izin?: string) =>
  ops<T>('POST', path, { key, body, izin, pin })

export const reversalOf = (id: string, alasan: string): MoneyRequest<TopUpReversed> => ({
  path: `topup/${encodeURIComponent(id)}/batal`,
  body: { alasan } satisfies Schemas['Batal'],
})
type UseId = Pick<UseRow, 'idtransaksi' | 'idcustomer'>
export const refundOf = (
  { idtransaksi, idcustomer }: UseId,
  nominal: number,
  alasan: string,
  /** The complaint that it answers. */
  idkeluhan?: number,
): MoneyRequest<MoneyBack> => ({
  path: 'refund',
  body: {
    idtransaksi,
    idcustomer,
    nominal,
    alasan,
    ...(idkeluhan !== undefined && { idkeluhan }),
  } satisfies Schemas['Refund'],
})
export const deletionOf = ({ idtransaksi, idcustomer }: UseId, alasan: string): MoneyRequest<MoneyBack> => ({
  path: 'hapus',
  body: { idtransaksi, idcustomer, alasan } satisfies Schemas['Hapus'],
})
export const cashOf = (jenis: CashKind, nominal: number, alasan: string): MoneyRequest<{ id: number }> => ({
  path: 'shift/kas',
  body: { jenis, nominal, alasan } satisfies Schemas['Cash'],
})
export const openingOf = (modal: number): MoneyRequest<Shift> => ({
  path: 'shift',
  body: { modal } satisfies Schemas['OpenShift'],
})
/** Without `yakin`, the server may request a second count, once per shift. */
export const closingOf = (counted: Counted, yakin = true): MoneyRequest<ShiftClosed> => ({
  path: 'shift/tutup',
  body: { ...counted, yakin } satisfies Schemas['Count'],
})
export const handoverOf = (
  counted: Counted,
  lanjut: Schemas['Next'],
  yakin = true,
): MoneyRequest<ShiftClosed> => ({
  path: 'shift/tutup',
  body: { ...counted, yakin, lanjut } satisfies Schemas['Count'],
  pin: true,
})

export const noteShift = (id: number, catatan: string) =>
  ops<null>('POST', `shift/${id}/catatan`, { body: { catatan } satisfies Schemas['Note'] })
