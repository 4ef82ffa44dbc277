import { type QueryClient, QueryClientProvider } from '@tanstack/react-query'
import { act, cleanup, renderHook } from '@testing-library/react'
import type { ReactNode } from 'react'
import { MemoryRouter, useLocation } from 'react-router'
import { vi } from 'vitest'
import type { PriceNow } from '@/shared/api/model'
import { makeQueryClient } from '@/shared/api/query'
import { useAuth } from '@/shared/lib/session/auth-store'
import { lastOf } from '@/shared/lib/text/last-of'
import { useToasts } from '@/shared/lib/toast/toast'
import { isOpen } from '../open-receipts'
import { usePaid } from '../paid/paid'
import { type CompleteFlow, openReceipt, purchaseFlow } from '../purchase-flow'
import { usePay } from './use-pay'

const NOW = Date.parse('2026-11-20T10:00:00Z')
export const MINUTE = 60_000
export const SEE_BALANCE = 'Saldo terbaru tampil di Beranda.'

export const flow: CompleteFlow = {
  qr: 'NYM1.x',
  mesin: {
    id: 7,
    nama: 'Mesin 07',
    idowner: 1,
    status: 'idle',
    tl: null,
    ends_at: null,
    outlet: { idoutlet: 3, nama: 'M', kota: 'B', tutup: null },
  },
  layanan: { id: 5, nama: 'Cuci', durasi: 60, harga: 8_000, harga_sampai: null, idoutlet: 3 },
  epay: { idcustomer: 9, nama: 'S', owner_idowner: 1, outlet: null, quota_emoney: null },
}

/** For tests: the payment screen with a server that answers each payment when the test says so. */
export const shop = {
  /** The payments that reached the server. */
  asked: [] as SentPayment[],
  /** Whether the other routes of the server answer. */
  answers: true,
  /** The customer's current path. */
  place: '',
  /** The new prices that the payment screen was given. */
  prices: [] as PriceNow[],
  client: makeQueryClient() as QueryClient,
}

/** A payment that reached the server; the test decides its answer. */
interface SentPayment {
  nota: Promise<string>
  answer: (status: number, message?: string, retryAfter?: string, data?: unknown) => Promise<void>
  lose: () => Promise<void>
}

export async function pass(ms = 0): Promise<void> {
  await act(() => vi.advanceTimersByTimeAsync(ms))
}
const envelope = (status: number, message: string, headers = {}, data: unknown = []) =>
  Response.json({ status, message, data }, { status, headers })

function fetch(request: Request): Promise<Response> {
  if (!request.url.endsWith('/create_snap_transaksi')) {
    return shop.answers ? Promise.resolve(envelope(200, 'OK')) : new Promise(() => undefined)
  }
  return new Promise((done, fail) => {
    shop.asked.push({
      nota: request.json().then(({ id }: { id: string }) => id),
      answer(status, message = 'OK', retryAfter, data) {
        done(envelope(status, message, retryAfter ? { 'retry-after': retryAfter } : {}, data))
        return pass()
      },
      lose() {
        fail(new TypeError('Failed to fetch'))
        return pass()
      },
    })
  })
}

function Here() {
  shop.place = useLocation().pathname
  return null
}

const wrapper = ({ children }: { children: ReactNode }) => (
  <QueryClientProvider client={shop.client}>
    <MemoryRouter initialEntries={['/pembayaran']}>
      <Here />
      {children}
    </MemoryRouter>
  </QueryClientProvider>
)

/** Opens the payment screen for this choice, as from the previous step and after a reload. */
export async function open(choice = flow) {
  const receipt = openReceipt(choice)
  const { result, unmount } = renderHook(
    () => usePay(receipt, 50_000, choice, (price) => shop.prices.push(price)),
    { wrapper },
  )
  await pass()
  return {
    receipt,
    phase: () => result.current.phase,
    leave: unmount,
    async tap() {
      act(result.current.pay)
      await pass()
    },
    pay: () => result.current.pay(),
  }
}

export const last = () => lastOf(shop.asked) as SentPayment
export const shownToasts = () => useToasts.getState().take()
export const stillOpen = (nota: string) => isOpen('1', nota)

/** Before each test. */
export function begin(): void {
  vi.useFakeTimers({ now: NOW })
  vi.stubGlobal('fetch', fetch)
  shop.asked = []
  shop.answers = true
  shop.prices = []
  usePaid.setState({ paid: null })
  shop.client = makeQueryClient()
  useAuth.getState().signIn(`h.${btoa(JSON.stringify({ id_customer_global: 1 }))}.s`)
  purchaseFlow.write(flow)
  shownToasts()
}

/** After each. */
export function end(): void {
  cleanup()
  shop.client.clear()
  vi.useRealTimers()
  sessionStorage.clear()
  localStorage.clear()
}
