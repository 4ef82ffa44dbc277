/** Texts of the top-up screen after a top-up: the ones that docs/product.md §2 quotes, and one addition of ours at the end. */
export const paidIn = {
  title: 'Saldo masuk',
  balance: 'Saldo sekarang',
  done: 'Selesai',
  again: 'Isi lagi',
  reversed: 'Isi saldo dibatalkan kasir',
} as const
