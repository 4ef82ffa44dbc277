import { beforeEach, expect, it, vi } from 'vitest'
import { useAuth } from '@/shared/lib/auth-store'
import { call } from './client'
import { ApiError } from './error'

const answer = (status: number, body: unknown) =>
  vi.fn(async () => new Response(typeof body === 'string' ? body : JSON.stringify(body), { status }))

beforeEach(() => useAuth.getState().signIn('a.b.c'))

it('gives the data of the envelope and sends the token', async () => {
  const fetch = answer(200, { status: 200, message: 'OK', data: { x: 1 } })
  vi.stubGlobal('fetch', fetch)
  expect(await call('GET', '/v1/x')).toEqual({ x: 1 })
  const [url, init] = fetch.mock.calls[0] as unknown as [string, RequestInit]
  expect(url).toBe('/scan/v1/x')
  expect(init.headers).toMatchObject({ authorization: 'Bearer a.b.c' })
})

it('tells the server’s message and status', async () => {
  vi.stubGlobal('fetch', answer(409, { status: 409, message: 'mesin sedang digunakan', data: null }))
  await expect(call('POST', '/v1/x', { body: {} })).rejects.toMatchObject({
    status: 409,
    message: 'mesin sedang digunakan',
  })
})

it('a refused token ends the session, the 401 of a login does not', async () => {
  vi.stubGlobal('fetch', answer(401, { status: 401, message: 'password is incorrect', data: null }))
  await expect(call('POST', '/v1/auth/login', { auth: false, body: {} })).rejects.toBeInstanceOf(ApiError)
  expect(useAuth.getState().token).toBe('a.b.c')
  await expect(call('GET', '/v1/x')).rejects.toBeInstanceOf(ApiError)
  expect(useAuth.getState().token).toBeNull()
  expect(useAuth.getState().exit).toBe('/login')
})

it('no network and a page of some proxy are no answers of ours', async () => {
  vi.stubGlobal('fetch', vi.fn().mockRejectedValue(new TypeError('Failed to fetch')))
  await expect(call('GET', '/v1/x')).rejects.toMatchObject({ unanswered: true })
  vi.stubGlobal('fetch', answer(200, '<html>'))
  await expect(call('GET', '/v1/x')).rejects.toMatchObject({ status: 502 })
  expect(useAuth.getState().token).toBe('a.b.c')
})

it('gives up after its time', async () => {
  vi.useFakeTimers()
  vi.stubGlobal(
    'fetch',
    vi.fn(
      (_url: string, init: RequestInit) =>
        new Promise((_done, fail) => {
          init.signal?.addEventListener('abort', () => fail(new DOMException('aborted', 'AbortError')))
        }),
    ),
  )
  const slow = expect(call('GET', '/v1/x', { timeout_ms: 500 })).rejects.toMatchObject({ status: -1 })
  await vi.advanceTimersByTimeAsync(500)
  await slow
  vi.useRealTimers()
})
