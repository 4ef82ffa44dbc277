import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import { secondsLeft, untilNextSecond, watchSeconds } from './ticker'

beforeEach(() => {
  vi.useFakeTimers({ now: 1_000_000 })
})
afterEach(() => {
  vi.useRealTimers()
})

it('rounds up, so that 0 means over', () => {
  expect(secondsLeft(10_000, 9_001)).toBe(1)
  expect(secondsLeft(10_000, 9_999)).toBe(1)
  expect(secondsLeft(10_000, 10_000)).toBe(0)
  expect(secondsLeft(10_000, 99_000)).toBe(0)
})

it('knows when the next second begins', () => {
  expect(untilNextSecond(10_000, 8_750)).toBe(250)
  expect(untilNextSecond(10_000, 8_000)).toBe(1_000)
  expect(untilNextSecond(10_000, 10_000)).toBeNull()
})

it('tells each card once a second, at its own moment, and stops at the end', () => {
  const one = vi.fn()
  const two = vi.fn()
  const stopOne = watchSeconds(1_003_000, one)
  const stopTwo = watchSeconds(1_002_500, two)
  vi.advanceTimersByTime(600)
  expect(one).toHaveBeenCalledTimes(0)
  expect(two).toHaveBeenCalledTimes(1)
  vi.advanceTimersByTime(10_000)
  expect(one).toHaveBeenCalledTimes(3)
  expect(two).toHaveBeenCalledTimes(3)
  expect(vi.getTimerCount()).toBe(0)
  stopOne()
  stopTwo()
})

it('a hidden page does not tick, and is right at once when it is seen again', () => {
  const notify = vi.fn()
  const visibility = vi.spyOn(document, 'visibilityState', 'get').mockReturnValue('hidden')
  const stop = watchSeconds(1_060_000, notify)
  expect(vi.getTimerCount()).toBe(0)
  vi.setSystemTime(1_030_000)
  visibility.mockReturnValue('visible')
  window.dispatchEvent(new Event('visibilitychange'))
  expect(notify).toHaveBeenCalledTimes(1)
  stop()
})
