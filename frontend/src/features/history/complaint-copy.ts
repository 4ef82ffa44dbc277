/** Texts of 'Ada masalah': the title, which docs/product.md §2 quotes, and our own. */
export const complaint = {
  title: 'Ada masalah',
  reason: 'Apa yang terjadi?',
  reasons: {
    tidak_jalan: 'Mesin tidak jalan',
    berhenti: 'Berhenti di tengah',
    hasil: 'Hasil tidak bersih',
    lain: 'Lainnya',
  },
  note: 'Ceritakan singkat (boleh kosong)',
  noteLeft: (count: number) => `${count} huruf lagi`,
  send: 'Kirim laporan',
  sent: 'Laporan terkirim',
  sentBody: 'Jawabannya tampil di sini dan di pemberitahuan.',

  report: 'Laporan Anda',
  states: { terbuka: 'Menunggu jawaban', diterima: 'Diterima', ditolak: 'Ditolak' },
  refunded: (amount: string) => `${amount} sudah kembali ke saldo`,
  yourNote: 'Catatan Anda',
  answer: 'Jawaban outlet',
  answeredAt: 'Dijawab',
} as const

export type ComplaintReason = keyof typeof complaint.reasons

/** A newer server may have others. */
export const reasonText = (reason: string): string =>
  complaint.reasons[reason as ComplaintReason] ?? complaint.reasons.lain
export const stateText = (status: string): string =>
  complaint.states[status as keyof typeof complaint.states] ?? status
