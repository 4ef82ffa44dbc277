import type { CashKind } from '@/till/api/types'

export const CASH: Record<
  CashKind,
  { name: string; does: string; reasons: readonly string[]; approved: boolean }
> = {
  masuk: {
    name: 'Uang masuk',
    does: 'Masukkan',
    reasons: ['Uang kembalian', 'Tukar uang', 'Salah hitung'],
    approved: false,
  },
  keluar: {
    name: 'Uang keluar',
    does: 'Keluarkan',
    reasons: ['Beli perlengkapan', 'Tukar uang', 'Salah hitung'],
    approved: true,
  },
  setor: { name: 'Setor', does: 'Setor', reasons: ['Ke bank', 'Ke pemilik'], approved: true },
}

/** All movements that the shift lists; a payout is made where its customer is served. */
export const MOVES: Record<string, string> = {
  masuk: CASH.masuk.name,
  keluar: CASH.keluar.name,
  setor: CASH.setor.name,
  tarik: 'Tarik saldo',
}
