/** Words of a top-up that was taken back, in the history: its title, which docs/product.md §2 quotes, and our own. */
export const voided = {
  title: 'Pembatalan Top-Up',
  time: 'Waktu Pembatalan',
  reason: 'Alasan',
  taken: 'Pengurangan Saldo',
} as const
