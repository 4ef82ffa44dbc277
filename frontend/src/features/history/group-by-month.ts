import type { HistoryEntry } from '@/shared/api/model'
import { formatMonth } from '@/shared/lib/text/format'
import { lastOf } from '@/shared/lib/text/last-of'

export interface Month {
  /** `November 2026`, in the outlets' time. */
  title: string
  entries: HistoryEntry[]
}

/** Neighbouring entries of one month under one separator. The order stays the server's: newest first. */
export function groupByMonth(entries: HistoryEntry[]): Month[] {
  const months: Month[] = []
  for (const entry of entries) {
    const title = formatMonth(entry.date)
    const last = lastOf(months)
    if (last?.title === title) last.entries.push(entry)
    else months.push({ title, entries: [entry] })
  }
  return months
}
