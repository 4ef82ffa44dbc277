import type { HistoryKind } from '@/shared/api/history'

/** Names of what the query cache holds; invalidating by name reloads data, never the page. */
export const keys = {
  dashboard: ['dashboard'],
  epay: ['epay'],
  account: (id: string) => ['account', id],
  services: (qr: string, search: string) => ['services', qr, search],
  ownerEpay: (idowner: number) => ['owner-epay', idowner],
  history: (kind: HistoryKind) => ['history', kind],
  detail: (kind: string, id: string | number, entry: number) => ['detail', kind, String(id), entry],
  qrcode: ['qrcode'],
} as const
