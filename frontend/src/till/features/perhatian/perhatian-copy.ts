import { clockTime } from '@/shared/lib/text/format'

/** Texts of the page of what needs a person. */
export const perhatian = {
  levels: { merah: 'Ke sana sekarang', kuning: 'Lihat sebentar lagi', abu: 'Bisa menunggu' },
  alerts: 'Pemberitahuan',
  noneBody: 'Mesin, shift, dan sambungan semua beres.',
  asOf: (at_ms: number) => `per ${clockTime(at_ms)}`,
  stale: (at_ms: number) => `Berhenti diperbarui sejak ${clockTime(at_ms)}`,
} as const
