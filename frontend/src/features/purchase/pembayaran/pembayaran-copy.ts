/** Texts of the payment at a price that has changed, beside those of `copy.pay`. */
export const pembayaran = {
  priceChanged: (amount: string) => `Harga layanan berubah menjadi ${amount}`,
  priceBefore: (amount: string) => `Harga tadi ${amount}. Pembayaran tadi tidak jadi.`,
  /** The same price again, after another one in between. */
  notPaid: 'Pembayaran tadi tidak jadi.',
  payNew: (amount: string) => `Bayar ${amount}`,
  chooseAgain: 'Pilih layanan lain',
} as const
