import { beforeEach, expect, it, vi } from 'vitest'
import { useAuth } from '@/shared/lib/session/auth-store'
import { api, call } from './client'
import { getDashboard } from './dashboard'
import { ApiError, OVERLOADED } from './error'

const answer = (status: number, body: unknown) =>
  vi.fn(
    async (_request: Request) =>
      new Response(typeof body === 'string' ? body : JSON.stringify(body), { status }),
  )

beforeEach(() => useAuth.getState().signIn('a.b.c'))

it('gives the data of the envelope and sends the token', async () => {
  const fetch = answer(200, { status: 200, message: 'OK', data: { x: 1 } })
  vi.stubGlobal('fetch', fetch)
  expect(await getDashboard()).toEqual({ x: 1 })
  const request = fetch.mock.calls[0]?.[0]
  expect(new URL(request?.url ?? '').pathname).toBe('/scan/v1/dashboard/get_dashboard')
  expect(request?.headers.get('authorization')).toBe('Bearer a.b.c')
})

it('writes ids and queries into the address, and the body as JSON', async () => {
  const fetch = answer(200, { status: 200, message: 'OK', data: null })
  vi.stubGlobal('fetch', fetch)
  const params = { path: { id: 'SLF/1' }, query: { entri: 7 } }
  await call((init) => api.GET('/scan/v1/epayment/get_detail_refund/{id}', { ...init, params }))
  expect(fetch.mock.calls[0]?.[0].url).toMatch(/\/scan\/v1\/epayment\/get_detail_refund\/SLF%2F1\?entri=7$/)
  const body = { skip: 20, limit: 20, jenis: '', outlet: '', sampai: 's' } as const
  await call((init) => api.POST('/scan/v1/transaksi/list_history', { ...init, body }))
  expect(await fetch.mock.calls[1]?.[0].json()).toEqual(body)
})

it('tells the server’s message and status', async () => {
  vi.stubGlobal('fetch', answer(409, { status: 409, message: 'mesin sedang digunakan', data: null }))
  await expect(getDashboard()).rejects.toMatchObject({ status: 409, message: 'mesin sedang digunakan' })
})

it('tells how long the server wants to be left alone', async () => {
  const answering = (value: string) =>
    vi.fn(
      async () => new Response('{"message":"tunggu"}', { status: 429, headers: { 'retry-after': value } }),
    )
  vi.stubGlobal('fetch', answering('7'))
  await expect(getDashboard()).rejects.toMatchObject({ status: 429, retry_after_ms: 7_000 })
  vi.stubGlobal('fetch', answering('Wed, 21 Oct 2026 07:28:00 GMT'))
  await expect(getDashboard()).rejects.toMatchObject({ retry_after_ms: null })
})

it('a refused token ends the session, the 401 of a login does not', async () => {
  vi.stubGlobal('fetch', answer(401, { status: 401, message: 'password is incorrect', data: null }))
  const body = { country_code: '62', telp: '81234567890', password: 'salah' } as const
  const login = call((init) => api.POST('/scan/v1/auth/login', { ...init, body }), { auth: false })
  await expect(login).rejects.toBeInstanceOf(ApiError)
  expect(useAuth.getState().token).toBe('a.b.c')
  await expect(getDashboard()).rejects.toBeInstanceOf(ApiError)
  expect(useAuth.getState().token).toBeNull()
  expect(useAuth.getState().expired).toBe(true)
})

it('no network and a page of some proxy are no answers of ours', async () => {
  vi.stubGlobal('fetch', vi.fn().mockRejectedValue(new TypeError('Failed to fetch')))
  await expect(getDashboard()).rejects.toMatchObject({ unanswered: true })
  vi.stubGlobal('fetch', answer(200, '<html>'))
  await expect(getDashboard()).rejects.toMatchObject({ status: 502 })
  vi.stubGlobal('fetch', answer(200, ''))
  await expect(getDashboard()).rejects.toMatchObject({ status: 502 })
  vi.stubGlobal('fetch', answer(503, '<html>'))
  await expect(getDashboard()).rejects.toMatchObject({ status: 503, message: '' })
  expect(useAuth.getState().token).toBe('a.b.c')
})

it('gives up after its time', async () => {
  vi.useFakeTimers()
  vi.stubGlobal(
    'fetch',
    vi.fn(
      ({ signal }: Request) =>
        new Promise((_done, fail) => {
          signal.addEventListener('abort', () => fail(new DOMException('aborted', 'AbortError')))
        }),
    ),
  )
  const call500 = call((init) => api.GET('/scan/v1/dashboard/get_dashboard', init), { timeout_ms: 500 })
  const slow = expect(call500).rejects.toMatchObject({ status: -1 })
  await vi.advanceTimersByTimeAsync(500)
  await slow
  vi.useRealTimers()
})

it('a call that the overloaded server refuses is sent again, unless its caller repeats it', async () => {
  vi.useFakeTimers()
  const refused = () =>
    new Response(JSON.stringify({ status: 503, message: OVERLOADED, data: null }), {
      status: 503,
      headers: { 'retry-after': '2' },
    })
  const fetch = vi
    .fn<(request: Request) => Promise<Response>>()
    .mockImplementationOnce(async () => refused())
    .mockImplementation(async () => new Response(JSON.stringify({ status: 200, message: 'OK', data: 7 })))
  vi.stubGlobal('fetch', fetch)
  const data = getDashboard()
  await vi.advanceTimersByTimeAsync(2_000)
  expect(await data).toBe(7)
  vi.useRealTimers()
  vi.stubGlobal(
    'fetch',
    vi.fn(async () => refused()),
  )
  const once = call((init) => api.GET('/scan/v1/dashboard/get_dashboard', init), { repeated: true })
  await expect(once).rejects.toMatchObject({ overloaded: true, retry_after_ms: 2_000 })
})
