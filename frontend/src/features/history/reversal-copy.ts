/** Texts of a reversed top-up in the history: its title, which docs/product.md §2 quotes, and our additions. */
export const reversed = {
  title: 'Pembatalan Top-Up',
  time: 'Waktu Pembatalan',
  reason: 'Alasan',
  taken: 'Pengurangan Saldo',
} as const
