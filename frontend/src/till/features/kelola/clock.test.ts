import { describe, expect, it } from 'vitest'
import { clockText, minuteOf, parseClock } from '@/till/lib/page/clock-text'
import { clockThere, momentThere, nextAt, wallClock } from '@/till/lib/page/zone-clock'

it.each([
  ['22.00', '22:00'],
  ['22:30', '22:30'],
  ['0605', '06:05'],
  ['7', '07:00'],
  [' 24.00 ', '24:00'],
  ['24.01', null],
  ['22.60', null],
  ['25', null],
  ['', null],
  ['pagi', null],
])('typed %j is %j', (typed, time) => expect(parseClock(typed)).toBe(time))

it('shows a time with a dot', () => expect(clockText('22:00')).toBe('22.00'))

describe('the outlet’s clock', () => {
  // Monday 23:30 in Jakarta is Tuesday 00:30 in Makassar.
  const at = Date.parse('2026-11-23T16:30:00Z')
  it('has its own day', () => {
    expect(wallClock(at, 'Asia/Jakarta')).toEqual({ day: 1, minute: 23 * 60 + 30 })
    expect(wallClock(at, 'Asia/Makassar')).toEqual({ day: 2, minute: 30 })
    expect(clockThere(at, 'Asia/Makassar')).toBe('00.30')
    expect(momentThere(at, 'Asia/Jakarta', at)).toBe('23.30')
    expect(momentThere(at + 3_600_000, 'Asia/Jakarta', at)).toBe('24/11/2026 00:30')
  })
  it('finds the next time of day, which is never now', () => {
    const next = (time: string) => nextAt(minuteOf(time), 'Asia/Jakarta', at + 12_345)
    expect(next('23:45')).toEqual({ at_ms: at + 15 * 60_000, tomorrow: false })
    expect(next('06:00')).toEqual({ at_ms: at + 6.5 * 3_600_000, tomorrow: true })
    expect(next('23:30')).toEqual({ at_ms: at + 24 * 3_600_000, tomorrow: true })
  })
})
