import { rupiah, signedRupiah } from '@/shared/lib/text/format'
import { sentence } from '@/shared/lib/text/sentence'
import { reversalOf } from '@/till/api/calls'
import type { TopUpReversed } from '@/till/api/types'
import type { Money } from '@/till/lib/money/use-money'
import { Decide } from '@/till/ui/decide'

const REASONS = ['Salah jumlah', 'Salah pelanggan', 'Salah cara bayar']

interface Props {
  id: string
  /** Rupiah that the top-up added. */
  quota: number
  nama: string
  money: Money<TopUpReversed>
}

/** Reverses a top-up: asks for a reason and, for a cashier, a supervisor's PIN. */
export function ReverseTopUp({ id, quota, nama, money }: Props) {
  return (
    <Decide
      money={money}
      what={sentence(`Batalkan isi saldo ${rupiah(quota)} untuk ${nama}`)}
      reasons={REASONS}
      label={`Batalkan ${signedRupiah(quota)}`}
      danger
      approval={{ aksi: 'batal', objek: id }}
      request={(alasan) => reversalOf(id, alasan)}
    />
  )
}

/** The subject of its reversal, for `useMoney`. */
export const reversalSubject = (id: string) => `topup:${id}`
