import type { HistoryEntry } from '@/shared/api/model'
import { formatMonth } from '@/shared/lib/format'

export interface Bulan {
  /** `November 2026`, in the outlets' time. */
  judul: string
  entries: HistoryEntry[]
}

/** Neighbouring entries of one month under one separator. The order stays the server's: newest first. */
export function groupByMonth(entries: HistoryEntry[]): Bulan[] {
  const months: Bulan[] = []
  for (const entry of entries) {
    const judul = formatMonth(entry.date)
    const last = months.at(-1)
    if (last?.judul === judul) last.entries.push(entry)
    else months.push({ judul, entries: [entry] })
  }
  return months
}
