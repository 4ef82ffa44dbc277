import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import { withTimeLimit } from './time-limit'

beforeEach(() => void vi.useFakeTimers())
afterEach(() => void vi.useRealTimers())

/** Work that ends only when its signal aborts. */
const endless = (signal: AbortSignal) =>
  new Promise<never>((_, reject) => signal.addEventListener('abort', () => reject(new Error('aborted'))))

it('aborts work at its limit', async () => {
  const ended = expect(withTimeLimit(5_000, endless)).rejects.toThrow('aborted')
  await vi.advanceTimersByTimeAsync(4_999)
  expect(vi.getTimerCount()).toBe(1)
  await vi.advanceTimersByTimeAsync(1)
  await ended
})

it('aborts work together with its caller', async () => {
  const caller = new AbortController()
  const ended = expect(withTimeLimit(5_000, endless, caller.signal)).rejects.toThrow('aborted')
  caller.abort()
  await ended
  expect(vi.getTimerCount()).toBe(0)
})

it('passes on what work answers, and leaves no timer', async () => {
  let left: AbortSignal | undefined
  const answer = await withTimeLimit(5_000, async (signal) => {
    left = signal
    return 7
  })
  await vi.advanceTimersByTimeAsync(10_000)
  expect([answer, left?.aborted, vi.getTimerCount()]).toEqual([7, false, 0])
})
