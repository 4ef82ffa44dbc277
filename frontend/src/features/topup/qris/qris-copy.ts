const whole = (amount: string) => amount.replace(' ', '\u00a0')

/** Texts of paying by QRIS: the one that docs/product.md §2 quotes, and our own. */
export const qris = {
  title: 'Isi dengan QRIS',
  search: 'Cari outlet',
  outlet: 'Outlet',
  amount: 'Nominal',
  packages: 'Paket',
  /** An amount stays on one line. */
  packageText: (name: string, price: string, quota: string) =>
    `${name}: bayar ${whole(price)}, saldo ${whole(quota)}`,
  show: 'Tampilkan QRIS',
  showFor: (amount: string) => `Tampilkan QRIS ${amount}`,

  pay: 'Bayar dengan QRIS',
  adds: (amount: string) => `Saldo bertambah ${amount}`,
  alt: (amount: string) => `Kode QRIS ${amount}`,
  preparing: 'Menyiapkan QRIS…',
  preparingBody: 'Penyedia QRIS belum menjawab. Kami tanyakan terus.',
  waiting: 'Menunggu pembayaran',
  hint: 'Simpan gambar ini, lalu buka dari galeri di aplikasi bank atau dompet Anda.',
  atBank: 'Menunggu kabar bank',
  atBankBody: 'Kalau sudah dibayar, saldo masuk sendiri. Jangan bayar dua kali.',
  left: 'Sisa waktu',
  save: 'Simpan gambar',
  file: 'qris-nyala.png',
  open: 'Buka aplikasi bank',
  cancel: 'Batalkan',
  cancelled: 'Pembayaran QRIS dibatalkan',

  unanswered: 'Belum ada jawaban',
  unansweredBody: 'Coba lagi. Permintaannya tetap sama, jadi tagihannya tetap satu.',
  over: 'Waktu bayar sudah habis',
  overBody: 'Kalau sudah telanjur dibayar, saldo tetap masuk.',
  held: 'Pembayaran sudah diterima, saldo belum masuk',
  heldBody: (id: string) => `Pemilik outlet sedang memeriksanya. Sebutkan nomor ini: ${id}`,
  close: 'Tutup',
} as const
