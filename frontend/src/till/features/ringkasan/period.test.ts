import { describe, expect, it } from 'vitest'
import { instantAt } from '@/till/lib/page/zone-clock'
import {
  barsOf,
  beforeText,
  businessDay,
  daysOf,
  faultOf,
  periodIn,
  periodOf,
  periodText,
  weekOf,
} from './period'

const TODAY = '2026-11-25'

describe('the outlet’s business day', () => {
  it('begins at its hour, on its own clock', () => {
    const at = Date.parse('2026-11-24T20:30:00Z')
    expect(businessDay(at, 'Asia/Jakarta', 0)).toBe('2026-11-25')
    expect(businessDay(at, 'Asia/Jakarta', 4 * 60)).toBe('2026-11-24')
    expect(businessDay(at, 'Asia/Jayapura', 4 * 60)).toBe('2026-11-25')
    expect(businessDay(Date.parse('2026-12-31T20:00:00Z'), 'Asia/Jakarta', 0)).toBe('2027-01-01')
  })

  it('begins at an instant, also where the clock is put back', () => {
    expect(new Date(instantAt('2026-11-24', 240, 'Asia/Jakarta')).toISOString()).toBe(
      '2026-11-23T21:00:00.000Z',
    )
    expect(new Date(instantAt('2026-11-02', 0, 'America/New_York')).toISOString()).toBe(
      '2026-11-02T05:00:00.000Z',
    )
    expect(new Date(instantAt('2026-11-01', 0, 'America/New_York')).toISOString()).toBe(
      '2026-11-01T04:00:00.000Z',
    )
  })
})

it.each([
  ['hari', '2026-11-25', '2026-11-25'],
  ['kemarin', '2026-11-24', '2026-11-24'],
  ['tujuh', '2026-11-19', '2026-11-25'],
  ['bulan', '2026-11-01', '2026-11-25'],
] as const)('%s is from %s until %s', (choice, dari, sampai) =>
  expect(periodOf(choice, TODAY)).toEqual({ dari, sampai }),
)

it('a week begins on Monday', () => {
  expect(weekOf(TODAY)).toEqual({ dari: '2026-11-23', sampai: TODAY })
  expect(weekOf('2026-11-23').dari).toBe('2026-11-23')
  expect(weekOf('2026-11-29').dari).toBe('2026-11-23')
})

it('a short period is shown among two weeks', () => {
  expect(barsOf({ dari: '2026-11-24', sampai: '2026-11-24' })).toEqual({
    dari: '2026-11-11',
    sampai: '2026-11-24',
  })
  const month = { dari: '2026-10-01', sampai: '2026-11-01' }
  expect(barsOf(month)).toEqual(month)
  expect(daysOf(month)).toBe(32)
})

it.each([
  ['', TODAY, 'missing'],
  ['2026-02-30', TODAY, 'missing'],
  [TODAY, '', 'missing'],
  ['2026-11-26', TODAY, 'backwards'],
  [TODAY, '2026-11-26', 'future'],
  ['2026-08-25', TODAY, 'long'],
  ['2026-08-26', TODAY, null],
  [TODAY, TODAY, null],
] as const)('from %j until %j: %j', (dari, sampai, fault) =>
  expect(faultOf({ dari, sampai }, TODAY)).toBe(fault),
)

it('reads the address, and ignores what the server would refuse', () => {
  expect(periodIn('?outlet=1&pilih=tujuh', TODAY)).toBe('tujuh')
  expect(periodIn('?dari=2026-11-01&sampai=2026-11-03', TODAY)).toEqual({
    dari: '2026-11-01',
    sampai: '2026-11-03',
  })
  for (const bad of [
    '',
    '?pilih=x',
    '?dari=2026-11-03&sampai=2026-11-01',
    '?dari=2020-01-01&sampai=2026-11-01',
  ])
    expect(periodIn(bad, TODAY), bad).toBeNull()
})

it('names the days and what they stand beside', () => {
  const day = { dari: '2026-11-24', sampai: '2026-11-24' }
  const week = { dari: '2026-11-19', sampai: TODAY }
  const month = { dari: '2026-11-01', sampai: TODAY }
  expect([day, week, month].map(periodText)).toEqual([
    'Selasa 24/11/2026',
    '19/11–25/11/2026',
    'November 2026',
  ])
  const before = { dari: '2026-10-25', sampai: '2026-11-18' }
  expect([day, week, month].map((one) => beforeText(one, before))).toEqual([
    'Selasa lalu',
    '7 hari sebelumnya',
    '25/10–18/11/2026',
  ])
})
