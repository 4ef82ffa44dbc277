import { type QueryClient, QueryClientProvider } from '@tanstack/react-query'
import { act, cleanup, renderHook } from '@testing-library/react'
import type { ReactNode } from 'react'
import { MemoryRouter, useLocation } from 'react-router'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { makeQueryClient } from '@/shared/api/query'
import { useAuth } from '@/shared/lib/auth-store'
import { toast, useToasts } from '@/shared/lib/toast'
import { ownerEpayQuery, servicesQuery } from '../calls'
import { isOpen } from '../open-receipts'
import { usePaid } from '../paid/paid'
import { markSent, openReceipt, type PurchaseFlow, purchaseFlow, takeUpSent } from '../purchase-flow'
import { usePay } from './use-pay'

/** Whether the file of what is shown over the dashboard could be fetched; fetching it takes no time here. */
const layer = vi.hoisted(() => ({ fetched: true }))
vi.mock('../paid/paid', async (original) => {
  const file = await original<typeof import('../paid/paid')>()
  return { ...file, paidLayerThere: async () => layer.fetched }
})

const NOW = Date.parse('2026-11-20T10:00:00Z')
const MINUTE = 60_000
const SAFE = 'Saldo Anda tidak terpotong.'
const SEE_BALANCE = 'Saldo terbaru tampil di Beranda.'

const flow: Required<PurchaseFlow> = {
  qr: 'NYM1.x',
  mesin: {
    id: 7,
    nama: 'Mesin 07',
    idowner: 1,
    status: 'idle',
    tl: null,
    ends_at: null,
    outlet: { idoutlet: 3, nama: 'M', kota: 'B' },
  },
  layanan: { id: 5, nama: 'Cuci', durasi: 60, harga: 8_000, idoutlet: 3 },
  epay: { idcustomer: 9, nama: 'S', owner_idowner: 1, outlet: null, quota_emoney: null },
}
const other = { ...flow, mesin: { ...flow.mesin, id: 8 } }

/** A payment that has reached the server, which answers it when a test says so. */
interface Asked {
  nota: Promise<string>
  answer: (status: number, message?: string, retryAfter?: string) => Promise<void>
  lose: () => Promise<void>
}

let asked: Asked[] = []
/** Whether the rest of the server answers. */
let answers = true
let client: QueryClient
let place = ''

async function pass(ms = 0): Promise<void> {
  await act(() => vi.advanceTimersByTimeAsync(ms))
}
const envelope = (status: number, message: string, headers = {}) =>
  Response.json({ status, message, data: [] }, { status, headers })

function fetch(request: Request): Promise<Response> {
  if (!request.url.endsWith('/create_snap_transaksi')) {
    return answers ? Promise.resolve(envelope(200, 'OK')) : new Promise(() => undefined)
  }
  return new Promise((done, fail) => {
    asked.push({
      nota: request.json().then(({ id }: { id: string }) => id),
      answer(status, message = 'OK', retryAfter) {
        done(envelope(status, message, retryAfter ? { 'retry-after': retryAfter } : {}))
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
  place = useLocation().pathname
  return null
}

const wrapper = ({ children }: { children: ReactNode }) => (
  <QueryClientProvider client={client}>
    <MemoryRouter initialEntries={['/pembayaran']}>
      <Here />
      {children}
    </MemoryRouter>
  </QueryClientProvider>
)

/** The screen of this choice, as it opens from the one before and after a reload. */
async function open(choice = flow) {
  const receipt = openReceipt(choice)
  const { result, unmount } = renderHook(() => usePay(receipt, 50_000, choice), { wrapper })
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

const last = () => asked.at(-1) as Asked
const told = () => useToasts.getState().take()
const stillOpen = (nota: string) => isOpen('1', nota)

beforeEach(() => {
  vi.useFakeTimers({ now: NOW })
  vi.stubGlobal('fetch', fetch)
  asked = []
  answers = true
  usePaid.setState({ paid: null })
  layer.fetched = true
  client = makeQueryClient()
  useAuth.getState().signIn(`h.${btoa(JSON.stringify({ id_customer_global: 1 }))}.s`)
  purchaseFlow.write(flow)
  told()
})

afterEach(() => {
  cleanup()
  client.clear()
  vi.useRealTimers()
  sessionStorage.clear()
  localStorage.clear()
})

it('is told in a message where the layer cannot be fetched', async () => {
  layer.fetched = false
  const { tap } = await open()
  await tap()
  await last().answer(200)
  expect(usePaid.getState().paid).toBeNull()
  expect(told()).toMatchObject([{ kind: 'success', title: 'Mesin Berhasil dinyalakan' }])
})

describe('one tap', () => {
  it('sends once, and leads home with the machine on when it is', async () => {
    const { tap, phase, receipt } = await open()
    expect(phase()).toBe('ready')
    await tap()
    expect(phase()).toBe('sending')
    expect(asked).toHaveLength(1)
    expect(await last().nota).toBe(receipt.nota)
    expect(stillOpen(receipt.nota)).toBe(true)
    expect(place).toBe('/pembayaran')
    client.setQueryData(ownerEpayQuery(1).queryKey, [flow.epay])
    await last().answer(200)
    expect(usePaid.getState().paid).toMatchObject({ idmesin: 7, service: 'Cuci', balanceLeft: 42_000 })
    expect(told()).toEqual([])
    expect(place).toBe('/dashboard')
    expect(stillOpen(receipt.nota)).toBe(false)
    expect(purchaseFlow.read()).toBeNull()
    expect(client.getQueryData(ownerEpayQuery(1).queryKey)).toBeUndefined()
    await pass(30 * MINUTE)
    expect(asked).toHaveLength(1)
  })

  it('and another one, before React draws or later, is none', async () => {
    const { tap, pay } = await open()
    act(() => {
      pay()
      pay()
    })
    await pass()
    await tap()
    await pass(5_000)
    expect(asked).toHaveLength(1)
    await last().answer(200)
    expect(usePaid.getState().paid).toMatchObject({ idmesin: 7 })
  })

  it('a failure of the screen before goes with it', async () => {
    const { tap } = await open()
    toast.failure('saldo epay tidak cukup')
    await tap()
    expect(told()).toEqual([])
  })

  it('a dashboard that is slow to come holds nobody up', async () => {
    const { tap } = await open()
    answers = false
    await tap()
    await last().answer(200)
    await pass(1_999)
    expect(place).toBe('/pembayaran')
    await pass(1)
    expect(place).toBe('/dashboard')
  })
})

describe('refused', () => {
  it('at the first try: the server’s sentence, and that no money was taken', async () => {
    const { tap, receipt } = await open()
    await tap()
    await last().answer(409, 'mesin sedang digunakan')
    expect(told()).toMatchObject([{ kind: 'failure', title: 'mesin sedang digunakan', body: [SAFE] }])
    expect(place).toBe('/dashboard')
    expect(stillOpen(receipt.nota)).toBe(false)
    // Another visit has a number of its own.
    await pass(1_000)
    expect(openReceipt(flow).nota).not.toBe(receipt.nota)
  })

  it('after a try that was lost nobody says that no money was taken', async () => {
    const { tap } = await open()
    await tap()
    await last().lose()
    await pass(1_000)
    await last().answer(409, 'mesin sedang digunakan')
    expect(told()).toMatchObject([{ kind: 'failure', body: [SEE_BALANCE] }])
  })

  it('nor while another purchase of this customer is open', async () => {
    const { tap, receipt } = await open()
    markSent({ ...receipt, nota: 'SLF/201126/120000/0000/9' })
    await tap()
    await last().answer(422, 'saldo tidak cukup')
    expect(told()).toMatchObject([{ kind: 'failure', title: 'saldo tidak cukup', body: [SEE_BALANCE] }])
  })

  it('taken by the server and not decided: its sentence, and the receipt stays open', async () => {
    const { tap, receipt } = await open()
    await tap()
    await last().answer(504, 'mesin belum menjawab')
    expect(told()).toMatchObject([{ kind: 'info', title: 'mesin belum menjawab' }])
    expect(place).toBe('/dashboard')
    expect(stillOpen(receipt.nota)).toBe(true)
    // But nothing leads back to it by itself.
    sessionStorage.clear()
    expect(takeUpSent()).toBe(false)
  })
})

describe('a lost answer', () => {
  it('is asked for again by the same receipt, until the server has decided', async () => {
    const { tap, phase, receipt } = await open()
    await tap()
    await last().lose()
    expect(phase()).toBe('asking')
    await pass(999)
    expect(asked).toHaveLength(1)
    await pass(1)
    expect(asked).toHaveLength(2)
    await last().answer(429, 'tunggu', '30')
    await pass(29_999)
    expect(asked).toHaveLength(2)
    await pass(1)
    expect(asked).toHaveLength(3)
    expect(told()).toEqual([])
    await last().answer(200)
    expect(await Promise.all(asked.map(({ nota }) => nota))).toEqual(Array(3).fill(receipt.nota))
    expect(usePaid.getState().paid).toMatchObject({ idmesin: 7 })
    expect(place).toBe('/dashboard')
  })

  it('is asked for at once when the network is back', async () => {
    const { tap } = await open()
    await tap()
    for (let lost = 0; lost < 4; lost++) {
      await last().lose()
      act(() => void window.dispatchEvent(new Event('online')))
      await pass()
    }
    expect(asked).toHaveLength(5)
  })

  it('is given up after twenty minutes, and asked for again by a tap, by the same receipt', async () => {
    const { tap, phase, receipt } = await open()
    await tap()
    const began = Date.now()
    while (phase() !== 'unknown' && Date.now() - began < 30 * MINUTE) {
      await last().lose()
      await pass(15_000)
    }
    expect(phase()).toBe('unknown')
    expect(Date.now() - began).toBeGreaterThan(19 * MINUTE)
    // As of the last time it was asked.
    await pass(15 * MINUTE)
    expect(stillOpen(receipt.nota)).toBe(true)
    const before = asked.length
    await pass(30 * MINUTE)
    expect(asked).toHaveLength(before)
    expect(told()).toEqual([])
    expect(place).toBe('/pembayaran')
    await tap()
    expect(phase()).toBe('asking')
    expect(await last().nota).toBe(receipt.nota)
    await last().answer(200)
    expect(place).toBe('/dashboard')
  })
})

describe('after a reload', () => {
  it('within a minute of the tap it goes on by itself, with the same receipt', async () => {
    const first = await open()
    await first.tap()
    first.leave()
    await pass(MINUTE - 1)
    const { phase, receipt } = await open()
    expect(phase()).toBe('asking')
    expect(asked).toHaveLength(2)
    expect(await last().nota).toBe(first.receipt.nota)
    expect(receipt.saldo).toBe(50_000)
    // Whatever it hears first, an earlier try may have taken money.
    await last().answer(409, 'mesin sedang digunakan')
    expect(told()).toMatchObject([{ body: [SEE_BALANCE] }])
  })

  it('later the customer is asked', async () => {
    const first = await open()
    await first.tap()
    first.leave()
    await pass(MINUTE)
    const { phase, tap } = await open()
    await pass(MINUTE)
    expect(phase()).toBe('unknown')
    expect(asked).toHaveLength(1)
    await tap()
    expect(phase()).toBe('asking')
    expect(await last().nota).toBe(first.receipt.nota)
  })

  it('nothing was tapped: nothing is sent', async () => {
    ;(await open()).leave()
    const { phase } = await open()
    await pass(MINUTE)
    expect(phase()).toBe('ready')
    expect(asked).toEqual([])
  })
})

describe('who leaves', () => {
  it('buys nothing behind their own back', async () => {
    const { tap, leave, receipt } = await open()
    await tap()
    await last().lose()
    leave()
    await pass(30 * MINUTE)
    expect(asked).toHaveLength(1)
    expect(told()).toEqual([])
    expect(openReceipt(flow).nota).toBe(receipt.nota)
  })

  it('while the answer is under way is told which machine it was about, and stays where they are', async () => {
    const { tap, leave } = await open()
    await tap()
    leave()
    // Meanwhile another machine is being chosen, and its prices are on the screen.
    purchaseFlow.write(other)
    client.setQueryData(servicesQuery('NYM1.y').queryKey, { pages: [], pageParams: [] })
    await last().answer(200)
    expect(told()).toMatchObject([{ kind: 'success', body: ['Mesin 07', expect.any(String)] }])
    expect(place).toBe('/pembayaran')
    expect(purchaseFlow.read()?.mesin.id).toBe(8)
    expect(client.getQueryState(servicesQuery('NYM1.y').queryKey)?.isInvalidated).toBe(true)
  })
})
