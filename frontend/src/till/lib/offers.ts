import type { TopUpRow, UseRow } from '@/till/api/types'

export type VoidOffer =
  /** `left_ms` is null for whom no time runs out. */
  { is: 'offered'; left_ms: number | null } | { is: 'refused'; why: string } | { is: 'over' }

/** Whether a top-up can be taken back now. The server has the same rules; a button that it would refuse is none. */
export function voidOffer(
  row: TopUpRow,
  { role, shiftOpen, now }: { role: string; shiftOpen: boolean; now: number },
): VoidOffer {
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
  /** Rupiah that may still go back, 0 for none. */
  refund: number
  remove: boolean
  why: string | null
}

/** What may be given back for a use now. */
export function giveBackOffer({ grandtotal, dikembalikan, dihapus_at, status }: UseRow): GiveBackOffer {
  const nothing = { refund: 0, remove: false }
  if (dihapus_at !== null) return { ...nothing, why: null }
  if (status === 'gagal') return { ...nothing, why: 'Mesin tidak pernah menyala, saldo sudah dikembalikan.' }
  if (status === 'menunggu' || status === 'belum_pasti') {
    return { ...nothing, why: 'Mesin belum menyala, tunggu sampai berjalan.' }
  }
  return { refund: Math.max(0, grandtotal - dikembalikan), remove: true, why: null }
}
