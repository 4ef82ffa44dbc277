import { QueryClientProvider } from '@tanstack/react-query'
import { act, cleanup, renderHook } from '@testing-library/react'
import type { ReactNode } from 'react'
import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import type { Bill } from '@/shared/api/model'
import { makeQueryClient } from '@/shared/api/query'
import { useAuth } from '@/shared/lib/session/auth-store'
import { useToasts } from '@/shared/lib/toast/toast'
import { keptBillOf } from './kept-bill'
import { useBill } from './use-bill'

const NOW = Date.parse('2026-11-22T09:05:00Z')
const CUSTOMER = '7'
const CHOICE = { idoutlet: 1, nominal: 50_000 }
const BILL: Bill = {
  idtagihan: 'NYL00000000000000000001',
  status: 'menunggu',
  nominal: 50_000,
  quota: 50_000,
  nama_paket: 'Top-Up',
  idoutlet: 1,
  outlet: 'Laundry Melati',
  qr: 'x',
  png: 'x',
  deeplink: null,
  kedaluwarsa_at: new Date(NOW + 30 * 60_000).toISOString(),
  server_time: NOW,
  idpembelian_emoney: null,
  saldo_akhir: null,
}

interface Asked {
  path: string
  body: { id?: string }
}
const asked: Asked[] = []
/** The answer to each next call; `lost`: it arrives at the server, and its answer does not arrive here. */
let answer: (call: Asked) => Partial<Bill> | [status: number, message: string] | 'lost'

async function fetch(request: Request): Promise<Response> {
  const path = new URL(request.url).pathname
  if (!path.includes('/tagihan')) return Response.json({ status: 200, message: 'OK', data: [] })
  const call: Asked = { path, body: request.method === 'POST' ? await request.json().catch(() => ({})) : {} }
  asked.push(call)
  const reply = answer(call)
  if (reply === 'lost') throw new TypeError('Failed to fetch')
  if (Array.isArray(reply)) {
    const [status, message] = reply
    return Response.json({ status, message, data: null }, { status })
  }
  return Response.json({ status: 200, message: 'OK', data: { ...BILL, ...reply } })
}

const pass = (ms = 0) => act(() => vi.advanceTimersByTimeAsync(ms))

async function open() {
  const client = makeQueryClient()
  const wrapper = ({ children }: { children: ReactNode }) => (
    <QueryClientProvider client={client}>{children}</QueryClientProvider>
  )
  const { result, unmount } = renderHook(useBill, { wrapper })
  await pass()
  return {
    now: () => result.current,
    state: () => result.current.state,
    leave: unmount,
    async ask() {
      act(() => result.current.ask(CHOICE))
      await pass()
    },
  }
}

beforeEach(() => {
  vi.useFakeTimers({ now: NOW })
  vi.stubGlobal('fetch', fetch)
  useAuth.getState().signIn(`h.${btoa(JSON.stringify({ id_customer_global: Number(CUSTOMER) }))}.s`)
  asked.length = 0
  answer = () => ({})
})

afterEach(() => {
  cleanup()
  vi.useRealTimers()
  vi.unstubAllGlobals()
  localStorage.clear()
  useToasts.getState().take()
})

it('an answer that is lost is asked for by the same request, also after a reload', async () => {
  answer = () => 'lost'
  const first = await open()
  await first.ask()
  await pass(60_000)
  expect(first.state().is).toBe('unknown')
  const ids = () => new Set(asked.flatMap(({ body }) => body.id ?? []))
  expect(asked.length).toBeGreaterThan(2)
  first.leave()

  answer = () => ({})
  const second = await open()
  await pass()
  expect(second.state()).toMatchObject({ is: 'known', bill: { idtagihan: BILL.idtagihan } })
  expect(ids().size).toBe(1)
  expect(keptBillOf(CUSTOMER).read()?.idtagihan).toBe(BILL.idtagihan)
})

it('a refusal ends the request', async () => {
  answer = () => [422, 'saldo paling banyak Rp 2.000.000']
  const screen = await open()
  await screen.ask()
  expect(screen.state().is).toBe('none')
  expect(keptBillOf(CUSTOMER).read()).toBeNull()
  expect(useToasts.getState().take()[0]?.title).toBe('saldo paling banyak Rp 2.000.000')
  await pass(60_000)
  expect(asked).toHaveLength(1)
})

it('is looked at while it is open, and not after it is paid', async () => {
  const screen = await open()
  await screen.ask()
  await pass(9_100)
  expect(asked).toHaveLength(4)
  answer = () => ({ status: 'dibayar', idpembelian_emoney: '1', saldo_akhir: 50_000 })
  await pass(3_000)
  expect(screen.state()).toMatchObject({ is: 'known', bill: { status: 'dibayar' } })
  expect(keptBillOf(CUSTOMER).read()).toBeNull()
  const { length } = asked
  await pass(60_000)
  expect(asked).toHaveLength(length)
})

it('a bill that the server does not know is forgotten', async () => {
  keptBillOf(CUSTOMER).write({
    request: { id: 'a', ...CHOICE },
    idtagihan: BILL.idtagihan,
    asked_ms: NOW - 60_000,
  })
  answer = () => [404, 'tagihan tidak ditemukan']
  const screen = await open()
  await pass()
  expect(screen.state().is).toBe('none')
  expect(keptBillOf(CUSTOMER).read()).toBeNull()
})

it('is the customer’s own, and is over after an hour', () => {
  const place = keptBillOf(CUSTOMER)
  place.write({ request: { id: 'a', ...CHOICE }, idtagihan: null, asked_ms: NOW })
  expect(place.read(NOW + 59 * 60_000)?.request.id).toBe('a')
  expect(place.read(NOW + 61 * 60_000)).toBeNull()
  expect(keptBillOf('8').read()).toBeNull()
})
