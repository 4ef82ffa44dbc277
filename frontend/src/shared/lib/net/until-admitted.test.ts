import { act, renderHook } from '@testing-library/react'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { ApiError, OVERLOADED } from '@/shared/api/error'
import { followOverload, untilAdmitted, useOverloaded } from './until-admitted'

const refused = () => new ApiError(503, OVERLOADED, 1_000)

beforeEach(() => void vi.useFakeTimers())
afterEach(() => void vi.useRealTimers())

describe('a call that the overloaded server refuses', () => {
  it('is sent again after Retry-After, with pauses that double', async () => {
    const send = vi
      .fn()
      .mockRejectedValueOnce(refused())
      .mockRejectedValueOnce(refused())
      .mockResolvedValueOnce('done')
    const answer = untilAdmitted(send)
    await vi.advanceTimersByTimeAsync(999)
    expect(send).toHaveBeenCalledTimes(1)
    await vi.advanceTimersByTimeAsync(1)
    expect(send).toHaveBeenCalledTimes(2)
    await vi.advanceTimersByTimeAsync(1_999)
    expect(send).toHaveBeenCalledTimes(2)
    await vi.advanceTimersByTimeAsync(1)
    expect(await answer).toBe('done')
  })

  it('fails in the end with the server’s sentence', async () => {
    const send = vi.fn().mockRejectedValue(refused())
    const answer = untilAdmitted(send).catch((error: ApiError) => error.message)
    await vi.advanceTimersByTimeAsync(60_000)
    expect(await answer).toBe(OVERLOADED)
    expect(send).toHaveBeenCalledTimes(6)
  })

  it('is not sent again after its screen has gone', async () => {
    const send = vi.fn().mockRejectedValue(refused())
    const screen = new AbortController()
    const answer = untilAdmitted(send, screen.signal).catch((error: ApiError) => error.status)
    await vi.advanceTimersByTimeAsync(500)
    screen.abort()
    expect(await answer).toBe(503)
    await vi.advanceTimersByTimeAsync(60_000)
    expect(send).toHaveBeenCalledTimes(1)
  })

  it('is shown while it waits', async () => {
    const began = vi.fn()
    const stop = followOverload(began)
    const { result } = renderHook(useOverloaded)
    const send = vi.fn().mockRejectedValueOnce(refused()).mockResolvedValueOnce('done')
    const answer = untilAdmitted(send)
    await act(() => vi.advanceTimersByTimeAsync(500))
    expect(result.current).toBe(true)
    await act(() => vi.advanceTimersByTimeAsync(500))
    await answer
    expect(result.current).toBe(false)
    expect(began).toHaveBeenCalledTimes(1)
    stop()
  })
})

it('leaves every other failure to its caller', async () => {
  for (const error of [new ApiError(503, 'layanan sedang sibuk, coba lagi', 3_000), new ApiError(409, 'x')]) {
    const send = vi.fn().mockRejectedValue(error)
    await expect(untilAdmitted(send)).rejects.toBe(error)
    expect(send).toHaveBeenCalledTimes(1)
  }
})
