import { formatLeft, rupiah } from '@/shared/lib/text/format'

/** The texts of entries that need a person, on the board and on their own page. */
export const attentionCopy = {
  title: 'Perlu perhatian',
  none: 'Tidak ada yang perlu perhatian',
  count: (count: number) => `${count} perlu perhatian`,
  take: 'Saya tangani',
  takeOf: (nama: string) => `Saya tangani ${nama}`,
  takenBy: (nama: string, until: string) => `${nama} ke sana, sampai ${until}`,
  takenByOther: (nama: string) => `${nama} sudah ditangani orang lain.`,
  alreadyOver: (nama: string) => `${nama} sudah beres, tidak perlu ditangani lagi.`,
} as const

/** The wording of an entry: what is the matter, and what to do. */
export function entryText(
  { jenis, jumlah }: { jenis: string; jumlah: number | null },
  /** Since when, by the outlet's clock. */
  moment: string,
  /** Milliseconds until held money goes back; null where none is held. */
  back_ms: number | null,
): string {
  const since = `sejak ${moment}`
  switch (jenis) {
    case 'perlu_petugas':
      return `Perlu petugas ${since}. Uang sudah kembali, periksa mesin.`
    case 'ditutup_sistem':
      return `Ditutup sistem ${since}. Periksa mesin, lalu buka.`
    case 'tanpa_bayar':
      return `Jalan tanpa bayar ${since}. Periksa siapa yang memakainya.`
    case 'outlet_putus':
      return `Semua mesin terputus ${since}. Periksa listrik dan internet.`
    case 'belum_pasti':
      if (jumlah === null || back_ms === null) return `Belum pasti ${since}.`
      return back_ms > 0
        ? `Belum pasti. ${rupiah(jumlah)} kembali sendiri dalam ${formatLeft(back_ms)}.`
        : `Belum pasti. ${rupiah(jumlah)} sebentar lagi kembali sendiri.`
    case 'ditolak':
      return 'Dua kali menolak menyala dalam satu jam.'
    case 'tidak_jalan':
      return `Sudah dibayar tapi tidak jalan, berakhir ${moment}. Tanya pelanggan, kembalikan uangnya bila perlu.`
    case 'jalan_sendiri':
      return `Jalan sendiri ${since}, tanpa pembelian di aplikasi. Periksa mesin dan sensornya.`
    case 'pindah':
      return `Pemilik nomor lama menolak pindah nomor ${since}. Lihat siapa yang memintanya.`
    case 'keluhan':
      return `Pelanggan melapor ada masalah ${since}. Jawab laporannya.`
    case 'qris':
      return `Pembayaran QRIS tertahan ${since}. Pemilik perlu melihatnya di laporan QRIS.`
    case 'offline':
      return `Offline ${since}.`
    case 'shift':
      return `Shift terbuka ${since}, belum dihitung.`
    case 'cadangan':
      return `Cadangan data terlambat ${since}.`
    case 'papan_lama':
      return `Papan tidak bisa mengirim pulsa koin, jadi mesin offline ${since}. Pasang firmware baru.`
    default:
      return `Perlu diperiksa ${since}.`
  }
}
