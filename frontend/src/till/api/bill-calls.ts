// The calls of money that comes in by QRIS, goes out and moves (docs/money.md), apart from those that every till loads.
import type { Schemas } from '@/shared/api/model'
import type { MoneyRequest } from '@/till/api/calls'
import { ops } from '@/till/api/client'
import type { Rows } from '@/till/api/types'

export type BillStatus = 'dibuat' | 'menunggu' | 'dibayar' | 'kedaluwarsa' | 'batal' | 'tertahan'

/** A QRIS bill. `qr` is the text of its code; the last two are null until it is paid. */
export interface Bill {
  idtagihan: string
  status: BillStatus
  nominal: number
  quota: number
  nama_paket: string
  idoutlet: number
  outlet: string
  qr: string | null
  kedaluwarsa_at: string
  server_time: number
  idpembelian_emoney: string | null
  saldo_akhir: number | null
}

export const billKeys = {
  bill: (id: string) => ['bill', id],
  held: (idoutlet: number) => ['bills', 'held', idoutlet],
  payout: (qr: string) => ['payout', qr],
}

/** An amount, or a package at the price that it has then. */
export const billOf = (body: {
  id_customer_global: number
  nominal?: number
  idpaket?: number
}): MoneyRequest<Bill> => ({ path: 'tagihan', body })
export const getBill = (id: string, signal?: AbortSignal) => ops<Bill>('GET', `tagihan/${id}`, { signal })
/** Asks the provider first: a bill that is paid cannot be cancelled. */
export const cancelBill = (id: string) => ops<Bill>('POST', `tagihan/${id}/batal`)
/** Bills that were paid and not credited. */
export const getHeldBills = (idoutlet: number, signal?: AbortSignal) =>
  ops<Rows<Bill>>('GET', `tagihan?status=tertahan&idoutlet=${idoutlet}`, { signal })
/** The owner has dealt with a held bill. */
export const settleBill = (id: string, catatan: string) =>
  ops<null>('POST', `tagihan/${id}/selesai`, { body: { catatan } })

/** What a payout of the whole account would pay, and how much bonus would end. */
export type PayoutSums = Schemas['Hitungan']
export type PaidOut = Schemas['PaidOut']
export const getPayoutSums = (qr: string, signal?: AbortSignal) =>
  ops<PayoutSums>('POST', 'tarik/hitung', { body: { qr }, signal })
export const payoutOf = (qr: string, { dibayar, hangus }: PayoutSums): MoneyRequest<PaidOut> => ({
  path: 'tarik',
  body: { qr, dibayar, hangus } satisfies Schemas['Tarik'],
})

export type MoveAsked = Schemas['PindahDiminta']
/** `qr`: the new number's code; `telp`: the old number. */
export const moveOf = (qr: string, telp: string): MoneyRequest<MoveAsked> => ({
  path: 'pindah',
  body: { qr, telp } satisfies Schemas['PindahKasir'],
})
