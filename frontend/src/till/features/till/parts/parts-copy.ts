import { rupiah } from '@/shared/lib/text/format'
import { sentence } from '@/shared/lib/text/sentence'

/** Texts of QRIS at the till. */
export const qris = {
  making: 'Menyiapkan QRIS…',
  failed: 'QRIS belum bisa dibuat',
  what: (nominal: number, nama: string) => sentence(`QRIS ${rupiah(nominal)} untuk ${nama}`),
  waiting: 'Menunggu pembayaran',
  code: (nominal: number) => `Kode QRIS ${rupiah(nominal)}`,
  for: (nama: string) => `untuk ${nama}`,
  gains: (quota: number) => `Saldo bertambah ${rupiah(quota)}`,
  left: 'Sisa waktu',
  lastWord: 'Waktunya habis. Menunggu kabar terakhir dari penyedia…',
  how: 'Minta pelanggan memindai kode ini dengan aplikasi bank atau dompet digital. Saldo masuk sendiri begitu dibayar.',
  offline: 'Tidak ada sambungan. Belum diketahui apakah sudah dibayar.',
  next: 'Pelanggan berikutnya',
  cancel: 'Batalkan QRIS',
  again: 'Buat QRIS lagi',
  back: 'Kembali',

  ended: {
    kedaluwarsa: 'QRIS kedaluwarsa',
    batal: 'QRIS dibatalkan',
    tertahan: 'Pembayaran tertahan',
  } as Record<string, string>,
  endedBody: {
    kedaluwarsa: 'Belum dibayar. Kalau pelanggan ternyata sudah membayar, saldo tetap masuk sendiri.',
    batal: 'Pelanggan tidak bisa membayar kode ini lagi.',
    tertahan: 'Uang diterima penyedia, tetapi saldo belum masuk. Pemilik perlu memeriksanya.',
  } as Record<string, string>,

  told: (status: string, nominal: number, nama: string): string =>
    ({
      dibayar: `QRIS ${rupiah(nominal)} dibayar, saldo ${nama} sudah masuk.`,
      kedaluwarsa: `QRIS ${rupiah(nominal)} untuk ${sentence(`${nama} kedaluwarsa`)}`,
      batal: `QRIS ${rupiah(nominal)} untuk ${sentence(`${nama} dibatalkan`)}`,
    })[status] ?? `QRIS ${rupiah(nominal)} untuk ${nama} tertahan. Pemilik perlu memeriksanya.`,

  list: 'Tagihan QRIS',
  states: {
    dibayar: 'Sudah dibayar',
    kedaluwarsa: 'Kedaluwarsa',
    batal: 'Dibatalkan',
    tertahan: 'Tertahan',
  } as Record<string, string>,

  manualTitle: 'Pembayaran QRIS',
  manualBody: (nominal: number, nama: string) =>
    `Buka aplikasi bank dan cari ${sentence(`${rupiah(nominal)} dari ${nama}`)} Baru isi saldonya kalau uangnya sudah masuk.`,
  reference: 'Empat karakter terakhir nomor referensi',
  referenceHint: 'Huruf dan angka, seperti di aplikasi bank.',
  referenceWrong: 'Tulis empat huruf atau angka',
  seen: 'Sudah saya lihat di aplikasi bank',
} as const

/** Texts of paying out. */
export const payout = {
  title: 'Tarik saldo',
  counting: 'Menghitung…',
  balance: 'Saldo',
  paid: 'Dibayar tunai',
  bonus: 'Bonus hangus',
  says: (dibayar: number, hangus: number) =>
    hangus > 0
      ? `${rupiah(dibayar)} dibayar, bonus ${rupiah(hangus)} hangus.`
      : `${rupiah(dibayar)} dibayar.`,
  ends: (nama: string) => `Sesudah itu saldo ${nama} di outlet ini Rp 0.`,
  pay: (dibayar: number) => `Bayar ${rupiah(dibayar)} tunai`,
  what: (dibayar: number, nama: string) => sentence(`Tarik saldo ${rupiah(dibayar)} untuk ${nama}`),
  countAgain: 'Hitung lagi',
  done: (dibayar: number, nama: string) => sentence(`Berikan ${rupiah(dibayar)} dari laci kepada ${nama}`),
  receipt: 'No Penarikan',
  finish: 'Selesai',
} as const

/** Texts of a move to a new number. */
export const move = {
  title: 'Pindah nomor',
  body: (nama: string) => `Ketik nomor lama ${nama} yang hilang.`,
  old: 'Nomor lama',
  goOn: 'Lanjut',
  typeFirst: 'Ketik nomor lamanya',
  from: 'Dari nomor',
  to: 'Ke nomor',
  says: 'Nomor lama diberi tahu sekarang. Semua saldo dan riwayat pindah 24 jam lagi, kecuali pemilik nomor lama menolak.',
  ask: 'Minta pindah',
  what: (telp: string, nama: string) => sentence(`Pindahkan nomor ${telp} ke nomor baru ${nama}`),
  other: 'Ubah nomor',
  done: (at: string) => `Permintaan pindah dicatat. Terjadi ${at} kalau nomor lama tidak menolak.`,
  doneBody: 'Sampai saat itu pelanggan memakai nomor lamanya seperti biasa.',
  finish: 'Selesai',
} as const
