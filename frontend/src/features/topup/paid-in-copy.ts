/** Words of the top-up screen once money came in: what docs/product.md §2 quotes, and last one of our own. */
export const paidIn = {
  title: 'Saldo masuk',
  balance: 'Saldo sekarang',
  done: 'Selesai',
  again: 'Isi lagi',
  voided: 'Isi saldo dibatalkan kasir',
} as const
