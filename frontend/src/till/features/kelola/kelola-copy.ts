/** Texts of the management's frame. */
export const kelola = {
  parts: 'Bagian kelola',
  outlet: 'Outlet',
  services: 'Layanan',
  machines: 'Mesin',
  packages: 'Paket',
  staff: 'Petugas',
  tills: 'Perangkat',
  customers: 'Pelanggan',
  stickers: 'Stiker',
  access: 'Kunci & audit',
  noOutlet: 'Belum ada outlet',
  noOutletBody: 'Belum ada outlet yang Anda kelola.',
  offline: 'Tidak ada sambungan, belum bisa disimpan.',
  sending: 'Menunggu jawaban server…',
  /** The answer to what was saved is missing: the form keeps what was typed, and sends the same again. */
  open: 'Server belum menjawab. Isian ini belum tentu tersimpan, dan tidak hilang: tanyakan lagi.',
  askAgain: 'Tanyakan lagi',
  back: 'Kembali',
  saved: (what: string) => `${what} sudah disimpan.`,
} as const
