import { describe, expect, it } from 'vitest'
import {
  clockTime,
  formatDate,
  formatDateTime,
  formatLeft,
  formatMonth,
  groupedTelp,
  rupiah,
  signedRupiah,
  wholeMinutes,
} from './format'

describe('rupiah', () => {
  it.each([
    [0, 'Rp 0'],
    [85_000, 'Rp 85.000'],
    [20_000_000, 'Rp 20.000.000'],
    [-8_000, '-Rp 8.000'],
    [1_500.5, 'Rp 1.500,5'],
    [1_500.25, 'Rp 1.500,25'],
    [999_999.999, 'Rp 1.000.000'],
  ])('%d is %s', (value, text) => expect(rupiah(value)).toBe(text))

  it('shows the direction of money by its sign', () => {
    expect(signedRupiah(5_000)).toBe('+Rp 5.000')
    expect(signedRupiah(-5_000)).toBe('-Rp 5.000')
    expect(signedRupiah(0)).toBe('Rp 0')
  })
})

describe('dates are those of Jakarta', () => {
  // 18:30 UTC on the last day of the month is the next month in Jakarta.
  const instant = '2026-11-30T18:30:00Z'
  it('writes day, time and month', () => {
    expect(formatDate(instant)).toBe('01/12/2026')
    expect(formatDateTime(instant)).toBe('01/12/2026 01:30')
    expect(clockTime(instant)).toBe('01.30')
    expect(formatMonth(instant)).toBe('Desember 2026')
  })
  it('counts midnight as 00', () => expect(formatDateTime('2026-11-20T17:05:00Z')).toBe('21/11/2026 00:05'))
  it('writes what Indonesian readers expect of `Intl`', () => {
    const number = new Intl.NumberFormat('id-ID', { maximumFractionDigits: 2 })
    const monthName = new Intl.DateTimeFormat('id-ID', {
      timeZone: 'Asia/Jakarta',
      month: 'long',
      year: 'numeric',
    })
    for (let month = 0; month < 12; month++) {
      const instant = Date.UTC(2026, month, 15)
      expect(formatMonth(instant)).toBe(monthName.format(instant))
      expect(rupiah(7 ** month)).toBe(`Rp ${number.format(7 ** month)}`)
    }
  })
  it('shows a dash for what is no date', () => {
    expect(formatDate('kemarin')).toBe('-')
    expect(formatMonth('')).toBe('-')
  })
})

describe('durations', () => {
  it('floors seconds to minutes', () => {
    expect(wholeMinutes(2_130)).toBe(35)
    expect(wholeMinutes(59)).toBe(0)
  })
  it.each([
    [0, '00:00'],
    [-5, '00:00'],
    [1, '00:01'],
    [1_000, '00:01'],
    [1_001, '00:02'],
    [60_000, '01:00'],
    [1_447_000, '24:07'],
    [99 * 60_000 + 59_000, '99:59'],
    [100 * 60_000, '1:40:00'],
    [86_400_000, '24:00:00'],
  ])('%d ms left is %s', (left_ms, text) => expect(formatLeft(left_ms)).toBe(text))
})

it('groups a telephone number by four with a leading 0', () => {
  expect(groupedTelp('81234567890')).toBe('0812 3456 7890')
  expect(groupedTelp('8123456789')).toBe('0812 3456 789')
  expect(groupedTelp('081234567890')).toBe('0812 3456 7890')
})
