import { clockTime } from '@/shared/lib/text/format'

/** Texts of the page of what needs a person. */
export const perhatian = {
  levels: { merah: 'Ke sana sekarang', kuning: 'Lihat sebentar lagi', abu: 'Bisa menunggu' },
  alerts: 'Pemberitahuan',
  noneBody: 'Mesin, shift, dan sambungan semua beres.',
  asOf: (at_ms: number) => `per ${clockTime(at_ms)}`,
  stale: (at_ms: number) => `Berhenti diperbarui sejak ${clockTime(at_ms)}`,
} as const

/** Texts of a customer's complaint. */
export const keluhan = {
  title: (mesin: string) => `Keluhan di ${mesin}`,
  gone: 'Laporan ini sudah dijawab',
  reasons: {
    tidak_jalan: 'Mesin tidak jalan',
    berhenti: 'Mesin berhenti di tengah',
    hasil: 'Hasilnya tidak baik',
    lain: 'Lainnya',
  } as Record<string, string>,
  what: 'Masalah',
  told: 'Dilaporkan',
  price: 'Harga',
  returned: 'Sudah dikembalikan',
  receipt: 'No Nota',
  history: 'Yang terjadi',
  device: 'Kata perangkat',
  signal: 'Sinyal',
  dbm: (rssi: number) => `${rssi < 0 ? '−' : ''}${Math.abs(rssi)} dBm`,
  heard: 'Terakhir terdengar',
  restarts: 'Restart hari ini',
  lost: 'Terputus 24 jam ini',
  minutes: (count: number) => `${count} menit`,
  often: ({ pelanggan, mesin }: { pelanggan: number; mesin: number }) =>
    `Bulan ini uang kembali ${pelanggan} kali ke pelanggan ini, ${mesin} kali di mesin ini.`,
  refund: (nominal: string) => `Kembalikan ${nominal}`,
  change: 'Ubah jumlah',
  amount: (most: string) => `Jumlah, paling banyak ${most}`,
  use: (nominal: string) => `Pakai ${nominal}`,
  typeAmount: 'Ketik jumlahnya',
  reject: 'Tolak',
  answer: 'Jawaban untuk pelanggan',
  answerHint: 'Satu kalimat. Pelanggan membacanya di riwayat.',
  answerMissing: 'Tulis jawabannya',
  rejectNow: 'Tolak laporan',
  rejected: 'Laporan ditolak, pelanggan diberi tahu.',
  refunded: (nominal: string) => `${nominal} kembali ke saldo pelanggan. Pelanggan diberi tahu.`,
  reasonOf: (reason: string) => `Keluhan pelanggan: ${reason.toLowerCase()}`,
  whatRefund: (nominal: string, mesin: string) => `Kembalikan ${nominal} untuk keluhan di ${mesin}.`,
  back: 'Kembali',
  done: 'Selesai',
} as const

/** Texts of QRIS payments that were not credited. */
export const tertahan = {
  title: 'Pembayaran QRIS tertahan',
  body: 'Uang sudah diterima penyedia, tetapi saldo belum masuk. Cocokkan di laporan QRIS dan di akun penyedia.',
  id: 'No Tagihan',
  amount: 'Tagihan',
  otherId: 'No Tagihan lain',
  otherHint: 'Kalau tidak ada di atas: nomor pesanan di akun penyedia, NYL dan 20 huruf atau angka.',
  idWrong: 'Tulis NYL dan 20 huruf atau angka',
  ownerOnly: 'Pemilik yang menyelesaikannya.',
  note: 'Catatan',
  noteHint: 'Apa yang sudah dilakukan, misalnya uang dikembalikan lewat transfer.',
  noteMissing: 'Tulis catatannya',
  settle: 'Sudah diselesaikan',
  settled: 'Pembayaran ditandai selesai.',
} as const
