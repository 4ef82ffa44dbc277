import type { components } from '@/shared/api/schema.gen'

/** The server's shapes, by its names for them. */
export type Schemas = components['schemas']

// The app's names for them. Money: whole rupiah. Durations: seconds.

/** `data` of an answer that only confirms success. */
export type Nothing = Schemas['Empty']['data']

export type TokenData = Schemas['TokenData']

export type Dashboard = Schemas['Dashboard']
export type SnapTransaksi = Schemas['SnapTransaksi']
export type SnapDetail = Schemas['SnapDetail']
/** A purchase that is over and whose laundry was not fetched. */
export type LeftInMachine = Schemas['Menunggu']
/** The customer's last purchase, at its present price. */
export type LastUse = Schemas['Terakhir']

export type AkunEpay = Schemas['AkunEpay']
export type OutletEpay = Schemas['OutletEpay']

export type DataMesin = Schemas['DataMesin']
export type DataLayanan = Schemas['DataLayanan']
export type Layanan = Schemas['Layanan']

/** A service's price as a refused payment learns it. */
export type PriceNow = Schemas['HargaSekarang']

export type CreateSnapTransaksi = Schemas['CreateSnapTransaksi']
export type Started = Schemas['Started']

export type RefType = Schemas['RefType']
export type HistoryEntry = Schemas['HistoryEntry']
export type History = Schemas['History']
/** A purchase in the history; `isDelete` in the detail of its deletion. */
export type SnapHistoryDetail = Schemas['RincianTransaksi']
export type TopUpDetail = Schemas['DetailTopUp']
export type RefundDetail = Schemas['DetailRefund']
/** A reversed top-up. */
export type ReversalDetail = Schemas['DetailBatal']

/** The customer as the account screen shows them; `updated_at` is the last change of the password. */
export type Account = Schemas['CustomerGlobal']

/** An outlet where customers pay by QRIS, with its amounts and packages. */
export type QrisOutlet = Schemas['OutletQris']
/** A QRIS payment that was asked for (docs/money.md). */
export type Bill = Schemas['Tagihan']

/** Balance that a till paid out in cash. */
export type PayoutDetail = Schemas['DetailPenarikan']
/** Balance that moved to another number. */
export type MoveDetail = Schemas['DetailPindah']
/** Balance that was brought along from another system. */
export type OpeningDetail = Schemas['DetailSaldoAwal']
/** What the customer reported about a purchase, and the answer. */
export type Complaint = Schemas['Keluhan']
/** A move to another number that a till has asked for. */
export type PendingMove = Schemas['PindahMenunggu']
