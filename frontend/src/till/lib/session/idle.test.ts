import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import { watchIdle } from './idle'

const MINUTE = 60_000

beforeEach(() => void vi.useFakeTimers())
afterEach(() => void vi.useRealTimers())

it('is over after the time that nobody touched anything, once', () => {
  const onIdle = vi.fn()
  const { touch } = watchIdle(MINUTE, onIdle)
  vi.advanceTimersByTime(MINUTE - 1)
  window.dispatchEvent(new Event('pointerdown'))
  vi.advanceTimersByTime(MINUTE - 1)
  touch()
  vi.advanceTimersByTime(MINUTE - 1)
  expect(onIdle).not.toHaveBeenCalled()
  vi.advanceTimersByTime(1)
  vi.advanceTimersByTime(10 * MINUTE)
  expect(onIdle).toHaveBeenCalledOnce()
})

it('a touch on a device that slept for longer does not keep it open', () => {
  const onIdle = vi.fn()
  watchIdle(MINUTE, onIdle)
  // Timers do not run while the device sleeps; the clock does.
  vi.setSystemTime(Date.now() + 2 * MINUTE)
  window.dispatchEvent(new Event('pointerdown'))
  expect(onIdle).toHaveBeenCalledOnce()
})

it('says nothing once it is stopped', () => {
  const onIdle = vi.fn()
  watchIdle(MINUTE, onIdle).stop()
  vi.advanceTimersByTime(2 * MINUTE)
  expect(onIdle).not.toHaveBeenCalled()
})
