import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import { useAuth } from '@/shared/lib/session/auth-store'
import { askAhead } from './ahead'
import { getDashboard, getEpay } from './dashboard'

const fetch = vi.fn(async (input: string | Request) => {
  const address = typeof input === 'string' ? input : new URL(input.url).pathname
  return Response.json({ status: 200, message: 'OK', data: address.split('/').pop() })
})

beforeEach(() => {
  fetch.mockClear()
  vi.stubGlobal('fetch', fetch)
  useAuth.getState().signIn('a.b.c')
})
afterEach(async () => {
  // A test must not leave answers for the next one.
  await Promise.allSettled([getDashboard(), getEpay()])
  vi.useRealTimers()
})

it('what was asked ahead is asked once, and asked again the next time', async () => {
  askAhead('a.b.c')
  expect(fetch.mock.calls).toEqual([
    ['/scan/v1/dashboard/get_dashboard', { cache: 'no-store', headers: { authorization: 'Bearer a.b.c' } }],
    [
      '/scan/v1/dashboard/get_user_epayment_by_id_customer_global',
      { cache: 'no-store', headers: { authorization: 'Bearer a.b.c' } },
    ],
  ])
  expect(await getDashboard()).toBe('get_dashboard')
  expect(await getEpay()).toBe('get_user_epayment_by_id_customer_global')
  expect(fetch).toHaveBeenCalledTimes(2)
  await getDashboard()
  expect(fetch).toHaveBeenCalledTimes(3)
})

it('is of no use to another customer, nor much later', async () => {
  askAhead('x.y.z')
  await getDashboard()
  expect(fetch).toHaveBeenCalledTimes(3)

  vi.useFakeTimers()
  askAhead('a.b.c')
  vi.advanceTimersByTime(15_001)
  await getDashboard()
  expect(fetch).toHaveBeenCalledTimes(6)
})

it('a failure is told to the one who takes it, and to nobody else', async () => {
  fetch.mockRejectedValueOnce(new TypeError('Failed to fetch'))
  askAhead('a.b.c')
  await expect(getDashboard()).rejects.toMatchObject({ unanswered: true })
  expect(await getEpay()).toBe('get_user_epayment_by_id_customer_global')
})

it('is given up like any other request', async () => {
  fetch.mockReturnValueOnce(new Promise(() => undefined))
  askAhead('a.b.c')
  const left = new AbortController()
  const answer = getDashboard(left.signal)
  left.abort()
  await expect(answer).rejects.toThrow()
})
