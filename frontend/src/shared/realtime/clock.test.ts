import { expect, it } from 'vitest'
import { fits, measure } from './clock'

const HOUR = 3_600_000

it('takes half the round trip off', () => {
  expect(measure(null, 1_000, 5_050, 1_100)).toEqual({ offset_ms: 4_000, error_ms: 50 })
})

it('keeps the measurement of the lowest latency', () => {
  const good = measure(null, 0, 1_010, 20)
  expect(measure(good, 10_000, 11_300, 10_400)).toBe(good)
  expect(measure(good, 10_000, 11_005, 10_010)).toEqual({ offset_ms: 1_000, error_ms: 5 })
})

it('believes a new measurement when the phone’s clock was set, however slow the line', () => {
  const before = measure(null, 0, 1_010, 20)
  const after = measure(before, HOUR, 1_300, HOUR + 400)
  expect(Math.round(after.offset_ms / 1000)).toBe(-3599)
})

it('notices by a tick that the clock was set, not that the line is slow', () => {
  const known = { offset_ms: 0, error_ms: 50 }
  expect(fits(known, 10_000, 10_900)).toBe(true)
  expect(fits(known, 10_000, 10_000 + HOUR)).toBe(false)
  expect(fits(known, 10_000, 10_000 - HOUR)).toBe(false)
})
