import type { Jenis } from '@/shared/api/riwayat'

/** Names of what the query cache holds; invalidating by name reloads data, never the page. */
export const keys = {
  dashboard: ['dashboard'],
  epay: ['epay'],
  akun: (id: string) => ['akun', id],
  layanan: (qr: string, search: string) => ['layanan', qr, search],
  epayPemilik: (idowner: number) => ['epay-pemilik', idowner],
  riwayat: (jenis: Jenis) => ['riwayat', jenis],
  detail: (jenis: string, id: string | number, entri: number) => ['detail', jenis, String(id), entri],
  qrcode: ['qrcode'],
} as const
