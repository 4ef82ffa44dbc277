import type { TopUpRow, UseRow } from '@/till/api/types'

export type ReversalOffer =
  /** `left_ms` is null for a member of staff without a time limit. */
  { is: 'offered'; left_ms: number | null } | { is: 'refused'; why: string } | { is: 'over' }

/** Whether a top-up can be reversed now. The server has the same rules; the till shows no button that it would refuse. */
export function reversalOffer(
  row: TopUpRow,
  { role, shiftOpen, now }: { role: string; shiftOpen: boolean; now: number },
): ReversalOffer {
  if (row.batal_at !== null) return { is: 'over' }
  const left_ms = new Date(row.batal_sampai).getTime() - now
  const late = !(left_ms > 0)
  if (late && role !== 'owner' && role !== 'root') {
    return { is: 'refused', why: 'Lewat 30 menit, minta pemilik.' }
  }
  if (row.cara_bayar === 'tunai' && !shiftOpen) {
    return { is: 'refused', why: 'Buka shift dulu: uang tunainya keluar dari laci.' }
  }
  return { is: 'offered', left_ms: late ? null : left_ms }
}

export interface GiveBackOffer {
  /** Rupiah that can still be refunded, 0 for nothing. */
  refund: number
  remove: boolean
  why: string | null
}

/** The possible refund or deletion of a purchase now. */
export function giveBackOffer({ grandtotal, dikembalikan, dihapus_at, status }: UseRow): GiveBackOffer {
  const nothing = { refund: 0, remove: false }
  if (dihapus_at !== null) return { ...nothing, why: null }
  if (status === 'gagal') return { ...nothing, why: 'Mesin tidak pernah menyala, saldo sudah dikembalikan.' }
  if (status === 'menunggu' || status === 'belum_pasti') {
    return { ...nothing, why: 'Mesin belum menyala, tunggu sampai berjalan.' }
  }
  return { refund: Math.max(0, grandtotal - dikembalikan), remove: true, why: null }
}
