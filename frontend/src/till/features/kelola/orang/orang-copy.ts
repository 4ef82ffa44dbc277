/** Texts of the staff and of the tills' browsers. */
export const petugas = {
  add: 'Tambah petugas',
  none: 'Belum ada petugas',
  noneBody: 'Tambahkan kasir, lalu beri PIN awalnya.',
  firstPin: 'PIN awal belum diganti',
  locked: 'Terkunci, PIN salah terlalu sering',
  ownPin: 'PIN dibuat sendiri',
  ended: (count: number) => `Sudah berhenti (${count})`,

  newTitle: 'Petugas baru',
  name: 'Nama',
  role: 'Peran',
  roles: { kasir: 'Kasir', teknisi: 'Teknisi', supervisor: 'Supervisor' },
  roleBody: {
    kasir: 'Mengisi saldo, menutup dan menghentikan mesin.',
    teknisi: 'Merawat mesin: menutup, membuka, mengetes, mencatat servis. Tidak melihat uang dan pelanggan.',
    supervisor: 'Mengelola outlet ini: harga, mesin, petugas, dan membatalkan.',
  },
  nameMissing: 'Tulis namanya',
  save: 'Tambah petugas',

  pinTitle: (name: string) => `PIN awal ${name}`,
  pinBody: (name: string) =>
    `Berikan PIN ini kepada ${name}. Berlaku satu hari, dan dipakai sekali untuk membuat PIN sendiri di kasir.`,
  pinOnce: 'PIN ini tampil sekali saja.',
  done: 'Selesai',

  newPin: 'Beri PIN awal baru',
  newPinBody: 'PIN yang sekarang dan semua sesinya berakhir.',
  unlock: 'Buka kunci',
  unlocked: (name: string) => `Kunci ${name} sudah dibuka.`,
  dismiss: 'Berhentikan',
  dismissBody: (name: string) => `${name} tidak bisa masuk lagi. Yang sudah dikerjakan tetap tercatat.`,
  dismissed: (name: string) => `${name} diberhentikan.`,
} as const

export const perangkat = {
  add: 'Tambah perangkat',
  none: 'Belum ada perangkat',
  noneBody: 'Kasir dipakai di tablet yang dipasang dengan kode.',
  paired: (at: string) => `Terpasang ${at}`,
  inUse: 'Terpasang',
  waiting: 'Kode belum dipakai',
  ended: (count: number) => `Sudah dicabut (${count})`,
  tablet: 'Tablet outlet',
  ownedBy: (name: string) => `Ponsel ${name}`,
  someone: 'Ponsel petugas',

  newTitle: 'Perangkat baru',
  name: 'Nama perangkat',
  nameHint: 'Misalnya tablet depan.',
  of: 'Dipakai sebagai',
  me: 'Ponsel saya',
  nameMissing: 'Tulis nama perangkat',
  save: 'Buat kode pasang',

  codeTitle: (name: string) => `Kode pasang ${name}`,
  codeBody: 'Buka halaman kasir di perangkat itu, lalu ketik kode ini. Atau pindai dengan kameranya.',
  codeOnce: 'Sekali pakai',
  codeLeft: (left: string) => `sisa ${left}`,
  codeOver: 'Kode sudah kedaluwarsa. Buat yang baru.',
  codeQr: 'Kode QR untuk memasang',
  page: 'Halaman',
  done: 'Selesai',

  again: 'Buat kode pasang baru',
  againBody:
    'Untuk memasangnya di peramban lain. Yang lama berhenti saat kode dipakai, dan shift yang terbuka pindah.',
  revoke: 'Cabut',
  revokeBody: (name: string) =>
    `${name} tidak bisa dipakai lagi, dan semua sesinya berakhir. Shift yang terbuka tetap ada: pasang lagi untuk menutupnya.`,
  revoked: (name: string) => `${name} sudah dicabut.`,
} as const
