import { afterEach, expect, it, vi } from 'vitest'
import { OVERLOADED } from '@/shared/api/error'
import { topUp } from './calls'
import { ops } from './client'

const refused = () =>
  new Response(JSON.stringify({ status: 503, message: OVERLOADED, data: null }), {
    status: 503,
    headers: { 'retry-after': '1' },
  })
const done = () => new Response(JSON.stringify({ status: 200, message: 'OK', data: 7 }))

afterEach(() => void vi.useRealTimers())

it('sends a call that the overloaded server refuses again, with its key', async () => {
  vi.useFakeTimers()
  const fetch = vi
    .fn<(url: string, init: RequestInit) => Promise<Response>>()
    .mockImplementationOnce(async () => refused())
    .mockImplementation(async () => done())
  vi.stubGlobal('fetch', fetch)
  const answer = ops('POST', 'tarik', { key: 'k1', body: {} })
  await vi.advanceTimersByTimeAsync(1_000)
  expect(await answer).toBe(7)
  const keys = fetch.mock.calls.map(([, { headers }]) => new Headers(headers).get('idempotency-key'))
  expect(keys).toEqual(['k1', 'k1'])
})

it('leaves a top-up to the machine that repeats it', async () => {
  const fetch = vi.fn(async () => refused())
  vi.stubGlobal('fetch', fetch)
  await expect(topUp('k1', {} as Parameters<typeof topUp>[1])).rejects.toMatchObject({ overloaded: true })
  expect(fetch).toHaveBeenCalledTimes(1)
})
