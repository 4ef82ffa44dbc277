import { onlineManager, QueryObserver } from '@tanstack/react-query'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { ApiError, NO_NETWORK, OVERLOADED, TIMED_OUT } from '@/shared/api/error'
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

it('does not repeat again what was repeated until the overloaded server had refused it six times', () => {
  expect(worthRetrying(0, new ApiError(503, OVERLOADED, 1_000))).toBe(false)
})

describe('when the network is back', () => {
  beforeEach(() => {
    vi.useFakeTimers()
  })
  afterEach(() => {
    vi.restoreAllMocks()
    onlineManager.setOnline(true)
    vi.useRealTimers()
  })

  /** A mounted query in a newly loaded page: `ask` is its request; the result unmounts it. */
  function wanted(ask: () => Promise<string>) {
    const client = makeQueryClient()
    client.mount()
    const leave = new QueryObserver(client, { queryKey: ['x'], queryFn: ask }).subscribe(() => undefined)
    return () => {
      leave()
      client.unmount()
    }
  }

  it('asks again for what is not fresh any more', async () => {
    const ask = vi.fn(async () => 'answer')
    const leave = wanted(ask)
    await vi.advanceTimersByTimeAsync(10_000)
    expect(ask).toHaveBeenCalledTimes(1)
    onlineManager.setOnline(false)
    onlineManager.setOnline(true)
    await vi.advanceTimersByTimeAsync(0)
    expect(ask).toHaveBeenCalledTimes(2)
    leave()
  })

  it('does so in a page that began without one', async () => {
    vi.spyOn(navigator, 'onLine', 'get').mockReturnValue(false)
    const ask = vi.fn(() => Promise.reject<string>(new ApiError(401, '')))
    const leave = wanted(ask)
    await vi.advanceTimersByTimeAsync(10_000)
    expect(ask).toHaveBeenCalledTimes(1)
    window.dispatchEvent(new Event('online'))
    await vi.advanceTimersByTimeAsync(0)
    expect(ask).toHaveBeenCalledTimes(2)
    leave()
  })
})
