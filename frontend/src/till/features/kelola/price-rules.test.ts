import { describe, expect, it } from 'vitest'
import type { PriceRule } from '@/till/api/shop-calls'
import { daysText, overlapOf, ruleText, sameRules, weekOf } from './price-rules'

const rule = (hari: number[], dari: string, sampai: string, harga = 9_000): PriceRule => ({
  hari,
  dari,
  sampai,
  harga,
})

describe('overlap, as the server refuses it', () => {
  it.each([
    ['the same hours', [rule([1], '06:00', '07:00'), rule([1], '06:30', '08:00')], true],
    ['one after the other', [rule([1], '06:00', '07:00'), rule([1], '07:00', '08:00')], false],
    ['other days', [rule([1], '06:00', '07:00'), rule([2], '06:00', '07:00')], false],
    ['past midnight', [rule([1], '22:00', '06:00'), rule([2], '05:59', '07:00')], true],
    ['until midnight', [rule([1], '22:00', '24:00'), rule([2], '00:00', '06:00')], false],
    ['from Sunday into Monday', [rule([7], '22:00', '06:00'), rule([1], '05:59', '07:00')], true],
    ['itself on the next day', [rule([1, 2], '22:00', '21:59')], false],
  ] as const)('%s', (_, rules, overlaps) => expect(overlapOf([...rules]) !== null).toBe(overlaps))

  it('names the two', () => {
    const [a, b, c] = [
      rule([1], '06:00', '07:00'),
      rule([2], '06:00', '07:00'),
      rule([2], '06:30', '08:00'),
    ] as const
    expect(overlapOf([a, b, c])).toEqual([b, c])
  })
})

it('a week has no gaps, and a night goes on on the next day', () => {
  const week = weekOf([rule([1, 7], '22:00', '06:00')])
  expect(week).toHaveLength(7)
  expect(week[0]).toEqual([
    { from: 0, until: 360, rule: 0 },
    { from: 360, until: 1_320, rule: null },
    { from: 1_320, until: 1_440, rule: 0 },
  ])
  expect(week[1]).toEqual([
    { from: 0, until: 360, rule: 0 },
    { from: 360, until: 1_440, rule: null },
  ])
  expect(week[2]).toEqual([{ from: 0, until: 1_440, rule: null }])
})

it.each([
  [[1, 2, 3, 4, 5], 'Sen–Jum'],
  [[7, 6], 'Sab, Min'],
  [[1, 3, 4, 5, 7], 'Sen, Rab–Jum, Min'],
  [[1, 2, 3, 4, 5, 6, 7], 'Setiap hari'],
  [[4], 'Kam'],
])('the days %j are %s', (days, text) => expect(daysText(days)).toBe(text))

it('a rule is its days and its times, with dots', () =>
  expect(ruleText(rule([6, 7], '09:00', '24:00'))).toBe('Sab, Min 09.00–24.00'))

it('the order of days makes no difference', () => {
  expect(sameRules([rule([1, 2], '06:00', '07:00')], [rule([2, 1], '06:00', '07:00')])).toBe(true)
  expect(sameRules([rule([1], '06:00', '07:00')], [rule([1], '06:00', '07:00', 1)])).toBe(false)
})
