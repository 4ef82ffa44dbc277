/** Texts of a customer with accounts and history. */
export const pelanggan = {
  find: 'Cari pelanggan',
  number: 'Nomor WhatsApp',
  numberHint: 'Nomor yang didaftarkan pelanggan.',
  numberWrong: 'Tulis nomor, paling sedikit 9 angka',
  notRegistered: 'Nomor ini belum terdaftar.',
  notHere: 'Pelanggan ini belum punya saldo di outlet Anda.',
  since: (date: string) => `Terdaftar ${date}`,
  accounts: 'Saldo',
  forever: 'tidak kedaluwarsa',
  until: (date: string) => `berlaku sampai ${date}`,
  expired: (date: string) => `kedaluwarsa ${date}`,
  history: 'Riwayat',
  historyNone: 'Belum ada riwayat',
  other: 'Cari yang lain',
  kinds: {
    snap_transaksi: 'Pemakaian',
    pembelian_emoney: 'Isi saldo',
    pembelian_emoney_batal: 'Isi saldo dibatalkan',
    snap_transaksi_hapus: 'Pemakaian dihapus',
    snap_transaksi_refund: 'Dikembalikan',
  },
} as const
