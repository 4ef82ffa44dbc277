import { describe, expect, it } from 'vitest'
import type { HistoryEntry } from '@/shared/api/model'
import { groupByDay } from './group-by-day'

const on = (date: string): HistoryEntry => ({
  ref_id: date,
  ref_type: 'snap_transaksi',
  entri: 1,
  date,
  outlet: 'Laundry Melati',
  value: -1,
})

/** 00:30 on 2 November in Jakarta. */
const NOW = Date.parse('2026-11-01T17:30:00Z')

const names = (...dates: string[]) => groupByDay(dates.map(on), NOW).map(({ name }) => name)

describe('groupByDay', () => {
  it('names today, yesterday and earlier days as they are in Jakarta', () => {
    expect(names('2026-11-01T17:10:00Z', '2026-11-01T16:59:59Z', '2026-10-31T16:59:59Z')).toEqual([
      'Hari ini',
      'Kemarin',
      '31 Okt',
    ])
    expect(names('2026-08-04T18:00:00Z', '2025-11-01T18:00:00Z')).toEqual(['5 Agu', '2 Nov'])
  })

  it('puts neighbours of one day under one band, in the order they came', () => {
    const entries = ['2026-10-20T10:00:00Z', '2026-10-20T09:00:00Z', '2026-10-19T09:00:00Z'].map(on)
    const days = groupByDay(entries, NOW)
    expect(days.map(({ date }) => date)).toEqual(['20/10/2026', '19/10/2026'])
    expect(days.flatMap((day) => day.entries)).toEqual(entries)
  })
})
