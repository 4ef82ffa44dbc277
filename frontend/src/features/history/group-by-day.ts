import type { HistoryEntry } from '@/shared/api/model'
import { months } from '@/shared/copy/common'
import { copy } from '@/shared/copy/copy'
import { formatDate, partsOf } from '@/shared/lib/text/format'
import { lastOf } from '@/shared/lib/text/last-of'

export interface Day {
  /** `20/11/2026`, in the outlets' time. */
  date: string
  /** `Hari ini`, `Kemarin`, `20 Nov`. */
  name: string
  entries: HistoryEntry[]
}

const DAY_MS = 86_400_000

/** Neighbouring entries of one day under one band, as of `now` (epoch ms). */
export function groupByDay(entries: HistoryEntry[], now: number): Day[] {
  const days: Day[] = []
  for (const entry of entries) {
    const date = formatDate(entry.date)
    const last = lastOf(days)
    if (last?.date === date) last.entries.push(entry)
    else days.push({ date, name: nameOf(entry.date, date, now), entries: [entry] })
  }
  return days
}

function nameOf(instant: string, date: string, now: number): string {
  if (date === formatDate(now)) return copy.history.today
  if (date === formatDate(now - DAY_MS)) return copy.history.yesterday
  const parts = partsOf(instant)
  return parts ? `${Number(parts.day)} ${months[Number(parts.month) - 1]?.slice(0, 3)}` : date
}
