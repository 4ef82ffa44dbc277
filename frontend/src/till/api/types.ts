import type { components } from '@/shared/api/schema.gen'

/** The till's names for the server's shapes (docs/till.md). Money: whole rupiah. Instants: RFC 3339. */
export type Schemas = components['schemas']

/** The server writes every field, `null` for nothing; the description allows it to leave those out. */
type Sent<T> = T extends readonly (infer One)[]
  ? Sent<One>[]
  : T extends object
    ? { [K in keyof T]-?: Sent<T[K]> }
    : T

export type Outlet = Schemas['OutletOf']
/** `outlet` is null in a person's own browser. */
export type Paired = Sent<Schemas['Paired']>
export type ThisDevice = Sent<Schemas['ThisBrowser']>
/** Somebody who may log in here: `tunggu_s` until the next PIN, `dikunci` until a supervisor opens it. */
export type Person = Schemas['Person']
export type Who = Schemas['WhoIs']
export type LogIn = Schemas['Masuk']
export type LoggedIn = Sent<Schemas['LoggedIn']>
export type Ticket = Schemas['Ticket']

/** `petugas` opened it; a kasir is not told `modal`. */
export type Shift = Sent<Schemas['Shift']>
/** What should be in the drawer, its amounts and the sums of sales are never told to a kasir. */
export type ShiftNow = Sent<Omit<Schemas['ShiftNow'], 'cara_bayar' | 'topup_dilihat'>> &
  Pick<Schemas['ShiftNow'], 'cara_bayar' | 'topup_dilihat'>
/** As the server tells it where no shift is open. */
export const NO_SHIFT_NOW: ShiftNow = { shift: null, diharapkan: null, gerak: [] }
export type CashMove = Sent<Schemas['Movement']>
export type CashKind = Schemas['Direction']
/** What was counted in a drawer: notes by their value, and `koin` in rupiah. */
export type Counted = Pick<Schemas['Count'], 'dihitung'> & { pecahan: Schemas['Notes'] }
/** `baru` is the next one, after a handover; with the session of whoever took over, whose token is told once. */
export type ShiftClosed = Sent<Schemas['Counted']>
/** Rupiah of a shift's sales that stand. */
export type SoldByMeans = Schemas['SoldByMeans']

/** A customer's code, or a typed number. */
export type CustomerRef = { qr: string } | { telp: string }
/** `nama` is a first name and an initial, `telp` has four digits to be seen; without an account at this outlet `saldo` is null. */
export type FoundCustomer = Schemas['PelangganFound']
export type Package = Schemas['PaketRow']
/** More than a till can show. */
export const MOST_PACKAGES = 100
export type PayMethod = Schemas['Means']

/** As the till sends it: always to a customer who was found. `ulang` is the same once more, knowingly. */
export interface TopUpBody {
  id_customer_global: number
  idoutlet: number
  nominal: number
  idpaket?: number
  cara_bayar: PayMethod
  ulang?: true
}
export type TopUpMade = Schemas['TopUpMade']
export type TopUpVoided = Schemas['TopUpVoided']
type OfAmounts = 'nominal' | 'quota' | 'nama_paket'
/** `cara_bayar` is null where nobody said, `petugas` for the command line. */
export type TopUpRow = Omit<Schemas['TopUpRow'], OfAmounts> & {
  nominal: number
  quota: number
  nama_paket: string
}
/** As a list has it: before the count a kasir's older ones have no amounts, and are opened one at a time. */
export type ListedTopUp = Omit<TopUpRow, OfAmounts> & { [K in OfAmounts]: TopUpRow[K] | null }
export const hasAmounts = (row: ListedTopUp): row is TopUpRow => row.nominal !== null && row.quota !== null
/** A customer's receipt numbers are their own: `idtransaksi` is one row's only beside `idcustomer`. */
export type UseRow = Schemas['UseRow']
export type UseStatus = Schemas['UseStatus']
/** A page of a list; `lanjut` is the `sebelum` of the next. */
export interface Rows<T> {
  baris: T[]
  lanjut: Schemas['Answer_Rows_TopUpRow']['data']['lanjut']
}
/** What a refund or a deletion gave back, and how many of both there were this month, this one included. */
export type MoneyBack = Schemas['MoneyBack']

export type ApprovedAction = 'topup' | 'batal' | 'refund' | 'hapus' | 'kas'
/** A supervisor's PIN for one action on one object. */
export type Approving = Schemas['Izin'] & { aksi: ApprovedAction }
export type Approval = Schemas['ApprovalGiven']
