// The till's names for the server's shapes (docs/till.md). Money: whole rupiah. Instants: RFC 3339.
import type { Schemas } from '@/shared/api/model'

/** The server writes every field, `null` for nothing; the OpenAPI description allows it to omit those. */
type Complete<T> = T extends readonly (infer One)[]
  ? Complete<One>[]
  : T extends object
    ? { [K in keyof T]-?: Complete<T[K]> }
    : T

export type Outlet = Schemas['OutletOf']
/** An outlet in sight with its settings. */
export type ShopOutlet = Schemas['OutletRow'] & { qris?: string }
/** `outlet` is null in a person's own browser. */
export type Paired = Complete<Schemas['Paired']>
export type ThisDevice = Complete<Schemas['ThisBrowser']>
/** A member of staff who may log in here: `tunggu_s` until the next PIN, `dikunci` until a supervisor unlocks it. */
export type Person = Schemas['Person']
export type Who = Schemas['WhoIs']
export type LogIn = Schemas['Masuk']
export type LoggedIn = Complete<Schemas['LoggedIn']>
/** `hak`: what the member of staff may do; the page offers nothing else. `outlet`: the outlets in sight. */
export type Me = Schemas['Saya']
export type Ticket = Schemas['Ticket']

/** `petugas` opened it; the server hides `modal` from a cashier. */
export type Shift = Complete<Schemas['Shift']>
/** The server hides the expected cash, its amounts and the sums of sales from a cashier. */
export type ShiftNow = Complete<Omit<Schemas['ShiftNow'], 'cara_bayar' | 'topup_dilihat'>> &
  Pick<Schemas['ShiftNow'], 'cara_bayar' | 'topup_dilihat'>
/** The server's answer where no shift is open. */
export const NO_SHIFT_NOW: ShiftNow = { shift: null, diharapkan: null, gerak: [] }
export type CashMove = Complete<Schemas['Movement']>
export type CashKind = Schemas['Direction']
/** The count of a drawer: notes by their value, and `koin` in rupiah. */
export type Counted = Pick<Schemas['Count'], 'dihitung'> & { pecahan: Schemas['Notes'] }
/**
 * `baru` is the next shift after a handover, with the session of the member of staff who took over; the server returns its token only
 * once.
 */
export type ShiftClosed = Complete<Schemas['Counted']>
/** Rupiah of a shift's sales, without reversed ones. */
export type SoldByMeans = Schemas['SoldByMeans']

/** A customer's code, or a typed number. */
export type CustomerRef = { qr: string } | { telp: string }
/** `nama` is a first name and an initial, `telp` shows four digits; without a wallet at this outlet `saldo` is null. */
export type FoundCustomer = Schemas['PelangganFound']
export type Package = Schemas['PaketRow']
/** More packages than a till can show. */
export const MAX_PACKAGES = 100
export type PayMethod = Schemas['Means']

/** The body as the till sends it: always for a customer who was found. `ulang` repeats the same top-up on purpose. */
export interface TopUpBody {
  id_customer_global: number
  idoutlet: number
  nominal: number
  idpaket?: number
  cara_bayar: PayMethod
  /** The end of the bank's reference, where a cashier has seen a QRIS payment. */
  ref_bayar?: string
  ulang?: true
}
export type TopUpMade = Schemas['TopUpMade']
export type TopUpReversed = Schemas['TopUpVoided']
type OfAmounts = 'nominal' | 'quota' | 'nama_paket'
/** `cara_bayar` is null where it was not recorded, `petugas` for the command line. */
export type TopUpRow = Omit<Schemas['TopUpRow'], OfAmounts> & {
  nominal: number
  quota: number
  nama_paket: string
}
/** A row of a list: before the count, a cashier's older rows have no amounts, and are opened one at a time. */
export type ListedTopUp = Omit<TopUpRow, OfAmounts> & { [K in OfAmounts]: TopUpRow[K] | null }
export const hasAmounts = (row: ListedTopUp): row is TopUpRow => row.nominal !== null && row.quota !== null
/** A receipt number is unique per customer: `idtransaksi` identifies a row only together with `idcustomer`. */
export type UseRow = Schemas['UseRow']
export type UseStatus = Schemas['UseStatus']
/** A page of a list; `lanjut` is the `sebelum` of the next. */
export interface Rows<T> {
  baris: T[]
  lanjut: Schemas['Answer_Rows_TopUpRow']['data']['lanjut']
}
/** The amount that a refund or a deletion returned, and the number of both this month, including this one. */
export type MoneyBack = Schemas['MoneyBack']

export type ApprovedAction = 'topup' | 'batal' | 'refund' | 'hapus' | 'kas' | 'tarik' | 'pindah'
/** A supervisor's PIN for one action on one object. */
export type Approving = Schemas['Izin'] & { aksi: ApprovedAction }
export type Approval = Schemas['ApprovalGiven']

/** A machine on the board. */
export type Tile = Schemas['Tile']
export type BoardOutlet = Schemas['OutletPapan']
/** Something that needs a person. */
export type Attention = Schemas['Perhatian']
/** Who has taken it, since when and until when. */
export type Taken = Schemas['Ditangani']
