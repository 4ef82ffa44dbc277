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

  mine: 'Data saya',
  download: 'Unduh data saya',
  downloadBody: 'Profil, saldo, riwayat, dan masuk, dalam satu berkas',
  file: 'data-nyala.zip',
  downloaded: 'Data sudah diunduh',
  privacy: 'Privasi',
  privacyBody: 'Apa yang disimpan dan siapa yang melihatnya',

  remove: 'Hapus akun',
  removeRow: 'Nama dan nomor dihapus untuk selamanya',
  removeBody:
    'Nama dan nomor Anda dihapus dan tidak bisa dikembalikan. Catatan pembayaran tetap ada tanpa nama. Nomor ini bisa mendaftar lagi, mulai dari kosong.',
  giveUp: (amount: string) => `Saya melepas saldo ${amount}. Saldo itu hangus dan tidak bisa diminta lagi.`,
  giveUpFirst: 'Saldo bisa diuangkan di kasir outlet sebelum akun dihapus.',
  password: 'Kata Sandi',
  wrongPassword: 'Kata sandi salah',
  checkPassword: 'Periksa lagi kata sandi Anda.',
  removeNow: 'Hapus akun sekarang',
  removed: 'Akun sudah dihapus',
} as const
