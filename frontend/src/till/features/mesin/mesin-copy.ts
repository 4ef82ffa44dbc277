import { clockTime, formatLeft, moment, rupiah } from '@/shared/lib/text/format'

/** The texts of the board. */
export const mesinCopy = {
  live: 'Langsung',
  stale: (told_ms: number) => `Berhenti diperbarui sejak ${clockTime(told_ms)}`,
  connecting: 'Menyambung…',
  noMachines: 'Belum ada mesin',
  noMachinesBody: 'Mesin outlet ini tampil di sini begitu ditambahkan.',
  noMatch: 'Tidak ada mesin yang cocok',
  showAll: 'Tampilkan semua',
  notGiven: 'Papan belum bisa dibuka',
  noOutlet: 'Belum ada outlet',
  outlet: 'Outlet',
  outletClosed: 'Outlet ditutup',
  outletClosedWhy: (alasan: string, sampai: string | null) =>
    sampai === null ? `${alasan}.` : `${alasan}, buka lagi ${moment(new Date(sampai).getTime())}.`,

  filter: 'Saring mesin',
  find: 'Cari mesin',
  help: 'Bantuan tombol',
  wall: 'Layar dinding',

  attention: 'Perlu perhatian',
  attentionNone: 'Tidak ada yang perlu perhatian',
  attentionCount: (count: number) => `${count} perlu perhatian`,
  more: (count: number) => `Lihat ${count} lainnya`,
  take: 'Saya tangani',
  takeOf: (nama: string) => `Saya tangani ${nama}`,
  takenBy: (nama: string, sampai: string) => `${nama} ke sana, sampai ${clockTime(sampai)}`,
  takenShort: (nama: string) => `${nama} ke sana`,
  notTaken: 'belum ditangani',
  takenByOther: (nama: string) => `${nama} sudah ditangani orang lain.`,
  alreadyOver: (nama: string) => `${nama} sudah beres, tidak perlu ditangani lagi.`,

  ready: (count: number) => `${count} siap`,
  next: 'berikutnya',
  nextLeft: 'lagi',
  left: 'Sisa waktu',
  doneAt: (at: string) => `selesai ${moment(new Date(at).getTime())}`,
  stateSince: (at: string) => ` sejak ${moment(new Date(at).getTime())}`,
  since: (at: string) => moment(new Date(at).getTime()),
  unpaidRun: 'Jalan tanpa bayar',
  closedAfter: 'lalu ditutup',

  panelClose: 'Tutup rincian',
  kind: 'Jenis',
  size: 'Ukuran',
  receipt: 'No Nota',
  service: 'Layanan',
  ends: 'Selesai pukul',
  held: 'Uang ditahan',
  heldBack: (left_ms: number) => `Kembali sendiri dalam ${formatLeft(left_ms)} bila mesin tetap diam.`,
  heldDue: 'Sebentar lagi kembali sendiri.',
  closedWhy: 'Alasan ditutup',
  closedBy: 'Ditutup oleh',
  closedSince: 'Ditutup sejak',
  reasonsClose: ['Bocor', 'Rusak', 'Dibersihkan'],
  reasonsStop: ['Bocor', 'Bunyi aneh', 'Diminta pelanggan'],
  ask: 'Tanya mesin sekarang',
  answered: (nama: string, state: string) => `${nama} menjawab: ${state}.`,
  close: 'Tutup mesin',
  closeWhat: (nama: string) => `Tutup ${nama} untuk pelanggan. Yang sedang berjalan tetap diteruskan.`,
  closed: (nama: string) => `${nama} ditutup.`,
  open: 'Buka mesin',
  openWhat: (nama: string) => `Buka ${nama} untuk pelanggan.`,
  opened: (nama: string) => `${nama} dibuka.`,
  stop: 'Hentikan',
  stopWhat: (nama: string) => `Hentikan ${nama} sekarang. Uang pelanggan tidak kembali sendiri.`,
  stopped: (nama: string) => `${nama} dihentikan.`,
  back: 'Kembali',
  gone: 'Mesin ini tidak ada lagi di papan.',

  helpTitle: 'Tombol di papan',
  helpKeys: [
    ['/', 'Cari mesin'],
    ['1 – 5', 'Saring menurut keadaan'],
    ['← ↑ → ↓', 'Pindah antar mesin'],
    ['Enter', 'Buka rincian mesin'],
    ['t', 'Tanya mesin yang dibuka'],
    ['x', 'Tutup mesin yang dipilih'],
    ['Esc', 'Kembali'],
    ['?', 'Bantuan ini'],
  ],

  wallMachines: (count: number) => `${count} mesin`,
  wallAge: (seconds: number) =>
    seconds < 60 ? `data ${seconds} detik lalu` : `data ${Math.floor(seconds / 60)} menit lalu`,
  wallSoon: 'Segera selesai',
  wallMore: (count: number) => `dan ${count} lainnya`,
  lastMinute: 'Menit terakhir',
  legend: 'Keterangan',
} as const

/** The wording of an entry: what is the matter, and what to do. */
export function entryText(
  { jenis, sejak, jumlah }: { jenis: string; sejak: string; jumlah: number | null },
  /** Milliseconds until held money goes back; null where none is held. */
  back_ms: number | null,
): string {
  const since = `sejak ${moment(new Date(sejak).getTime())}`
  switch (jenis) {
    case 'perlu_petugas':
      return `Perlu petugas ${since}. Uang sudah kembali, periksa mesin.`
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
    case 'offline':
      return `Offline ${since}.`
    case 'shift':
      return `Shift terbuka ${since}, belum dihitung.`
    case 'cadangan':
      return `Cadangan data terlambat ${since}.`
    default:
      return `Perlu diperiksa ${since}.`
  }
}
