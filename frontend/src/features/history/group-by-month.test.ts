import { describe, expect, it } from 'vitest'
import type { HistoryEntry } from '@/shared/api/model'
import { groupByMonth } from './group-by-month'

let id = 0
const on = (date: string): HistoryEntry => {
  id += 1
  return {
    ref_id: String(id),
    ref_type: 'snap_transaksi',
    entri: id,
    date,
    outlet: 'Laundry Melati',
    value: -1,
  }
}

const titles = (entries: HistoryEntry[]) => groupByMonth(entries).map(({ title }) => title)

describe('groupByMonth', () => {
  it('puts neighbours of one month under one separator, in the order they came', () => {
    const entries = [
      on('2026-11-20T11:05:00Z'),
      on('2026-11-01T02:00:00Z'),
      on('2026-10-31T02:00:00Z'),
      on('2025-11-20T02:00:00Z'),
    ]
    const months = groupByMonth(entries)
    expect(months.map(({ title }) => title)).toEqual(['November 2026', 'Oktober 2026', 'November 2025'])
    expect(months.flatMap((month) => month.entries)).toEqual(entries)
    expect(months[0]?.entries).toHaveLength(2)
  })

  it('counts the month in Jakarta, not in UTC', () => {
    expect(titles([on('2026-10-31T17:00:00Z')])).toEqual(['November 2026'])
    expect(titles([on('2026-10-31T16:59:59Z')])).toEqual(['Oktober 2026'])
    expect(titles([on('2025-12-31T18:00:00Z')])).toEqual(['Januari 2026'])
  })

  it('is empty without entries', () => {
    expect(groupByMonth([])).toEqual([])
  })
})
