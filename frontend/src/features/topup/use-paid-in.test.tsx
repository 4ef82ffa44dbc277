import { QueryClient, QueryClientProvider } from '@tanstack/react-query'
import { act, cleanup, renderHook } from '@testing-library/react'
import type { ReactNode } from 'react'
import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import { epayQuery } from '@/shared/api/dashboard'
import type { AkunEpay } from '@/shared/api/model'
import type { BalanceChange } from '@/shared/realtime/balance-change'
import { usePaidIn } from './use-paid-in'

const MINUTE = 60_000

const line = vi.hoisted(() => ({ receive: (_change: BalanceChange): void => undefined }))
vi.mock('@/shared/realtime/socket', () => ({
  watchBalances: (receive: (change: BalanceChange) => void) => {
    line.receive = receive
    return () => undefined
  },
}))

let saldo = 35_000
const getEpay = vi.hoisted(() => vi.fn<() => Promise<AkunEpay[]>>())
vi.mock('@/shared/api/client', () => ({ call: getEpay }))

const account = (): AkunEpay => ({
  idcustomer: 7,
  nama: 'Siti Rahmawati',
  owner_idowner: 1,
  outlet: null,
  quota_emoney: { saldo, jenis_emoney: 2, masa_aktif: null, updated_at: '2026-11-20T11:05:00Z' },
})

let client: QueryClient
const vibrate = vi.fn()
let lessMotion = false

beforeEach(() => {
  vi.useFakeTimers({ now: 1_800_000_000_000 })
  saldo = 35_000
  lessMotion = false
  vibrate.mockClear()
  getEpay.mockReset().mockImplementation(async () => [account()])
  client = new QueryClient({ defaultOptions: { queries: { retry: false, networkMode: 'always' } } })
  Object.assign(navigator, { vibrate, userActivation: { hasBeenActive: true } })
  vi.stubGlobal('matchMedia', () => ({ matches: lessMotion }))
})

afterEach(() => {
  cleanup()
  client.clear()
  vi.useRealTimers()
})

const wrapper = ({ children }: { children: ReactNode }) => (
  <QueryClientProvider client={client}>{children}</QueryClientProvider>
)

const pass = (ms: number) => act(() => vi.advanceTimersByTimeAsync(ms))

async function open() {
  const { result } = renderHook(() => usePaidIn(), { wrapper })
  await pass(0)
  return result
}

function see(state: 'hidden' | 'visible') {
  vi.spyOn(document, 'visibilityState', 'get').mockReturnValue(state)
  document.dispatchEvent(new Event('visibilitychange', { bubbles: true }))
}

it('turns with the word of the socket, and vibrates once', async () => {
  const page = await open()
  expect(page.current.paidIn).toBeNull()
  act(() => line.receive({ idcustomer: 7, saldo: 85_000, sebab: 'topup' }))
  expect(page.current.paidIn).toEqual({ idcustomer: 7, balance: 85_000, amount: 50_000 })
  expect(vibrate).toHaveBeenCalledTimes(1)
  act(() => line.receive({ idcustomer: 7, saldo: 80_000, sebab: 'refund' }))
  expect(page.current.paidIn).toEqual({ idcustomer: 7, balance: 80_000, amount: 50_000 })
  expect(vibrate).toHaveBeenCalledTimes(1)
})

it('who wants less motion feels nothing', async () => {
  lessMotion = true
  const page = await open()
  act(() => line.receive({ idcustomer: 7, saldo: 85_000, sebab: 'topup' }))
  expect(page.current.paidIn).not.toBeNull()
  expect(vibrate).not.toHaveBeenCalled()
})

it('without the socket looks every 15 s, not once more when it has turned, and again with the code', async () => {
  const page = await open()
  expect(getEpay).toHaveBeenCalledTimes(1)
  await pass(14_000)
  expect(getEpay).toHaveBeenCalledTimes(1)
  saldo = 85_000
  await pass(2_000)
  expect(page.current.paidIn).toEqual({ idcustomer: 7, balance: 85_000, amount: 50_000 })
  expect(vibrate).toHaveBeenCalledTimes(1)
  await pass(5 * MINUTE)
  expect(getEpay).toHaveBeenCalledTimes(2)
  act(() => page.current.again())
  expect(page.current.paidIn).toBeNull()
  await pass(16_000)
  expect(getEpay).toHaveBeenCalledTimes(3)
  expect(page.current.paidIn).toBeNull()
})

it('an answer that fails does not end the looking', async () => {
  const page = await open()
  getEpay.mockRejectedValueOnce(new TypeError('Failed to fetch'))
  await pass(16_000)
  saldo = 85_000
  await pass(16_000)
  expect(page.current.paidIn?.amount).toBe(50_000)
})

it('stops looking after ten minutes, and begins anew when it is looked at again', async () => {
  const page = await open()
  await pass(30 * MINUTE)
  const looks = getEpay.mock.calls.length
  expect(looks).toBe(41)
  saldo = 85_000
  see('hidden')
  await pass(MINUTE)
  expect(getEpay).toHaveBeenCalledTimes(looks)
  see('visible')
  await pass(0)
  expect(page.current.paidIn?.amount).toBe(50_000)
  act(() => page.current.again())
  await pass(16_000)
  expect(getEpay).toHaveBeenCalledTimes(looks + 2)
})

it('what another screen had fetched long ago is no money that comes in now', async () => {
  client.setQueryData(epayQuery().queryKey, [account()], { updatedAt: Date.now() - MINUTE })
  saldo = 85_000
  const page = await open()
  expect(page.current.paidIn).toBeNull()
  saldo = 95_000
  await pass(16_000)
  expect(page.current.paidIn?.amount).toBe(10_000)
})
