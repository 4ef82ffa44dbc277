/** Texts of a move to another number that waits: the button, which docs/product.md §2 quotes, and our own. */
export const pendingMove = {
  title: 'Akun ini akan pindah nomor',
  body: (to: string, at: string) =>
    `Kasir diminta memindahkan saldo dan riwayat Anda ke nomor ${to} pada ${at}. Bila bukan Anda yang meminta, tolak sekarang.`,
  refuse: 'Bukan saya',
  sure: 'Tolak pindah nomor?',
  sureBody: 'Saldo dan riwayat tetap di nomor ini. Selama 30 hari kasir tidak bisa meminta pindah lagi.',
  refuseNow: 'Tolak',
  back: 'Kembali',
  refused: 'Pindah nomor ditolak',
  refusedBody: 'Akun Anda tetap di nomor ini.',
} as const
