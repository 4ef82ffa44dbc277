import { rupiah } from '@/shared/lib/text/format'
import type { SoldByMeans } from '@/till/api/types'

/** The sales of a shift by means of payment. */
export const soldRows = ({ tunai, qris, transfer }: SoldByMeans): [string, string][] => [
  ['Isi saldo tunai', rupiah(tunai)],
  ['Isi saldo QRIS', rupiah(qris)],
  ['Isi saldo transfer', rupiah(transfer)],
]
