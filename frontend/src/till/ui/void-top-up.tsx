import { rupiah, signedRupiah } from '@/shared/lib/text/format'
import { voidOf } from '@/till/api/calls'
import type { TopUpVoided } from '@/till/api/types'
import type { Money } from '@/till/lib/money/use-money'
import { sentence } from '@/till/lib/page/sentence'
import { Decide } from '@/till/ui/decide'

const REASONS = ['Salah jumlah', 'Salah pelanggan', 'Salah cara bayar']

interface Props {
  id: string
  /** Rupiah that the top-up added. */
  quota: number
  nama: string
  money: Money<TopUpVoided>
}

/** Reverses a top-up: asks for a reason and, for a cashier, a supervisor's PIN. */
export function VoidTopUp({ id, quota, nama, money }: Props) {
  return (
    <Decide
      money={money}
      what={sentence(`Batalkan isi saldo ${rupiah(quota)} untuk ${nama}`)}
      reasons={REASONS}
      label={`Batalkan ${signedRupiah(quota)}`}
      danger
      approval={{ aksi: 'batal', objek: id }}
      request={(alasan) => voidOf(id, alasan)}
    />
  )
}

/** The subject of its reversal, for `useMoney`. */
export const voidSubject = (id: string) => `topup:${id}`
