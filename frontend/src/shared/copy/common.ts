/** Texts that app and till show: each is a separate export, so that the till loads none of the customers' texts. */

export const months = [
  'Januari',
  'Februari',
  'Maret',
  'April',
  'Mei',
  'Juni',
  'Juli',
  'Agustus',
  'September',
  'Oktober',
  'November',
  'Desember',
] as const

export const common = {
  moreFailed: 'Halaman berikutnya belum bisa dimuat',
  back: 'Kembali',
  loading: 'Memuat…',
  loadingMore: 'Memuat berikutnya…',
  tryAgain: 'Coba lagi',
  close: 'Tutup',
  discardTitle: 'Buang yang sudah diisi?',
  discardBody: 'Yang sudah Anda isi di sini belum disimpan.',
  keepTyping: 'Lanjut mengisi',
  discard: 'Buang',
  navigation: 'Menu utama',
  scanMachine: 'Scan mesin',
  offline: 'Tidak ada koneksi internet',
  overloaded: 'Sedang ramai, mencoba lagi…',
  pageFailed: 'Halaman belum bisa dimuat',
  pageFailedBody: 'Periksa koneksi lalu muat ulang.',
  reload: 'Muat ulang',
  newVersion: 'Versi baru tersedia',
  notifications: 'Pemberitahuan',
  sessionEnded: 'Sesi Anda berakhir',
  sessionEndedBody: 'Silakan masuk lagi.',
} as const

export const failure = {
  network: 'Tidak dapat terhubung',
  networkBody: 'Periksa koneksi internet, lalu coba lagi.',
  slow: 'Server lama menjawab',
  slowBody: 'Koneksi sedang lambat. Coba lagi sebentar lagi.',
  server: 'Sistem sedang bermasalah',
  serverBody: 'Coba lagi sebentar lagi.',
} as const

/** Texts of the code reader. */
export const camera = {
  openingCamera: 'Menyalakan kamera…',
  torchOn: 'Nyalakan senter',
  torchOff: 'Matikan senter',
  scannerLoading: 'Menyiapkan pemindai…',
  searching: 'Mencari kode QR…',
  scannerFailed: 'Pemindai belum bisa dimuat',
  cameraRefused: 'Kamera tidak diizinkan',
  noCamera: 'Kamera tidak ditemukan',
  cameraBusy: 'Kamera sedang dipakai aplikasi lain',
  insecure: 'Kamera butuh alamat https',
  retryCamera: 'Coba kamera lagi',
} as const
