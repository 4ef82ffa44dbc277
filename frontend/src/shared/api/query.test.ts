import { onlineManager, QueryObserver } from '@tanstack/react-query'
import { expect, it, vi } from 'vitest'
import { ApiError, NO_NETWORK, TIMED_OUT } from '@/shared/api/error'
import { makeQueryClient, worthRetrying } from './query'

it('tries twice again after a lost connection and a fault of the server', () => {
  for (const status of [NO_NETWORK, 500, 503]) {
    expect([0, 1, 2].map((count) => worthRetrying(count, new ApiError(status, '')))).toEqual([
      true,
      true,
      false,
    ])
  }
})

it('tells a refusal, and a wait that ran out, at once', () => {
  for (const status of [400, 401, 404, 429, TIMED_OUT]) {
    expect(worthRetrying(0, new ApiError(status, ''))).toBe(false)
  }
})

it('asks again when the network is back, for what is not fresh any more', async () => {
  vi.useFakeTimers()
  const client = makeQueryClient()
  client.mount()
  const ask = vi.fn(async () => 'answer')
  const stop = new QueryObserver(client, { queryKey: ['x'], queryFn: ask }).subscribe(() => undefined)
  await vi.advanceTimersByTimeAsync(10_000)
  expect(ask).toHaveBeenCalledTimes(1)
  onlineManager.setOnline(false)
  onlineManager.setOnline(true)
  await vi.advanceTimersByTimeAsync(0)
  expect(ask).toHaveBeenCalledTimes(2)
  stop()
  client.unmount()
  vi.useRealTimers()
})
