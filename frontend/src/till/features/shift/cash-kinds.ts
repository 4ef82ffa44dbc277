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

export const isCashKind = (kind: string): kind is CashKind => kind in CASH
