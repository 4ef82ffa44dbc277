/** Texts of balance that left or came without a purchase or a top-up: the titles of its entries, and the lines of its details. */
export const balanceTexts = {
  titles: {
    penarikan: 'Penarikan Saldo',
    saldo_hangus: 'Saldo Hangus',
    pindah_keluar: 'Pindah Nomor',
    pindah_masuk: 'Pindah Nomor',
    saldo_awal: 'Saldo Awal',
  },
  out: 'Pengurangan Saldo',
  payoutNumber: 'No Penarikan',
  forfeited: 'Bonus Hangus',
  moveNumber: 'No Pindah',
  from: 'Dari Nomor',
  to: 'Ke Nomor',
  openingNumber: 'No Saldo Awal',
} as const
