/** Texts of a customer's own data: a move to another number, which docs/product.md §2 names, the copy of the data, and the end of the account. */
export const dataCopy = {
  move: 'Pindah ke nomor baru',
  moveBody:
    'Daftarkan dulu nomor barunya di aplikasi ini. Sesudah itu saldo, riwayat, dan mesin yang sedang jalan ikut ke nomor baru, dan Anda masuk dengan kata sandi nomor baru.',
  newNumber: 'Nomor WhatsApp Baru',
  thisPassword: 'Kata Sandi Nomor Ini',
  sendCodes: 'Kirim kode ke dua nomor',
  sameNumber: 'Nomor lama dan baru sama',
  registerFirst: 'Daftarkan dulu nomor baru itu di aplikasi ini, lalu ulangi.',
  oldCode: 'Kode di nomor lama',
  newCode: 'Kode di nomor baru',
  next: 'Lanjut',
  moveNow: 'Pindahkan sekarang',
  moved: 'Nomor sudah pindah',
  movedBody: 'Mulai sekarang masuk dengan nomor baru.',
  wrongPassword: 'Kata sandi salah',
  checkPassword: 'Periksa lagi kata sandi Anda.',
} as const
