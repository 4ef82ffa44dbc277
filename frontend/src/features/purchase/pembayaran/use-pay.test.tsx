import { act } from '@testing-library/react'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { toast } from '@/shared/lib/toast/toast'
import { ownerEpayQuery } from '../calls'
import { usePaid } from '../paid/paid'
import { markSent, openReceipt, purchaseFlow, takeUpSent } from '../purchase-flow'
import {
  begin,
  end,
  flow,
  last,
  MINUTE,
  open,
  pass,
  SEE_BALANCE,
  shop,
  shownToasts,
  stillOpen,
} from './fake-shop'

/** Whether the paid layer's file could be fetched; fetching takes no time in these tests. */
const layer = vi.hoisted(() => ({ fetched: true }))
vi.mock('../paid/paid', async (original) => {
  const file = await original<typeof import('../paid/paid')>()
  return { ...file, paidLayerThere: async () => layer.fetched }
})

const SAFE = 'Saldo Anda tidak terpotong.'

beforeEach(() => {
  layer.fetched = true
  begin()
})
afterEach(end)

it('is told in a message where the layer cannot be fetched', async () => {
  layer.fetched = false
  const { tap } = await open()
  await tap()
  await last().answer(200)
  expect(usePaid.getState().paid).toBeNull()
  expect(shownToasts()).toMatchObject([{ kind: 'success', title: 'Mesin Berhasil dinyalakan' }])
})

describe('one tap', () => {
  it('sends once, and leads home with the machine on when it is', async () => {
    const { tap, phase, receipt } = await open()
    expect(phase()).toBe('ready')
    await tap()
    expect(phase()).toBe('sending')
    expect(shop.asked).toHaveLength(1)
    expect(await last().nota).toBe(receipt.nota)
    expect(stillOpen(receipt.nota)).toBe(true)
    expect(shop.place).toBe('/pembayaran')
    shop.client.setQueryData(ownerEpayQuery(1).queryKey, [flow.epay])
    await last().answer(200)
    expect(usePaid.getState().paid).toMatchObject({ idmesin: 7, service: 'Cuci', balanceLeft: 42_000 })
    expect(shownToasts()).toEqual([])
    expect(shop.place).toBe('/dashboard')
    expect(stillOpen(receipt.nota)).toBe(false)
    expect(purchaseFlow.read()).toBeNull()
    expect(shop.client.getQueryData(ownerEpayQuery(1).queryKey)).toBeUndefined()
    await pass(30 * MINUTE)
    expect(shop.asked).toHaveLength(1)
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
    expect(shop.asked).toHaveLength(1)
    await last().answer(200)
    expect(usePaid.getState().paid).toMatchObject({ idmesin: 7 })
  })

  it('a failure of the screen before goes with it', async () => {
    const { tap } = await open()
    toast.failure('saldo epay tidak cukup')
    await tap()
    expect(shownToasts()).toEqual([])
  })

  it('a dashboard that is slow to come holds nobody up', async () => {
    const { tap } = await open()
    shop.answers = false
    await tap()
    await last().answer(200)
    await pass(1_999)
    expect(shop.place).toBe('/pembayaran')
    await pass(1)
    expect(shop.place).toBe('/dashboard')
  })
})

describe('refused', () => {
  it('at the first try: the server’s sentence, and that no money was taken', async () => {
    const { tap, receipt } = await open()
    await tap()
    await last().answer(409, 'mesin sedang digunakan')
    expect(shownToasts()).toMatchObject([{ kind: 'failure', title: 'mesin sedang digunakan', body: [SAFE] }])
    expect(shop.place).toBe('/dashboard')
    expect(stillOpen(receipt.nota)).toBe(false)
    // Another visit has a separate number.
    await pass(1_000)
    expect(openReceipt(flow).nota).not.toBe(receipt.nota)
  })

  it('where the sentence says that the money is back, none says that it was never taken', async () => {
    const { tap } = await open()
    await tap()
    await last().answer(409, 'mesin gagal dinyalakan, saldo dikembalikan')
    expect(shownToasts()).toMatchObject([{ kind: 'failure', body: [SEE_BALANCE] }])
  })

  it('after a try that was lost nobody says that no money was taken', async () => {
    const { tap } = await open()
    await tap()
    await last().lose()
    await pass(1_000)
    await last().answer(409, 'mesin sedang digunakan')
    expect(shownToasts()).toMatchObject([{ kind: 'failure', body: [SEE_BALANCE] }])
  })

  it('nor while another purchase of this customer is open', async () => {
    const { tap, receipt } = await open()
    markSent({ ...receipt, nota: 'SLF/201126/120000/0000/9' })
    await tap()
    await last().answer(422, 'saldo tidak cukup')
    expect(shownToasts()).toMatchObject([
      { kind: 'failure', title: 'saldo tidak cukup', body: [SEE_BALANCE] },
    ])
  })

  it('taken by the server and not decided: its sentence, and the receipt stays open', async () => {
    const { tap, receipt } = await open()
    await tap()
    await last().answer(504, 'mesin belum menjawab')
    expect(shownToasts()).toMatchObject([{ kind: 'info', title: 'mesin belum menjawab' }])
    expect(shop.place).toBe('/dashboard')
    expect(stillOpen(receipt.nota)).toBe(true)
    // Without the session storage, nothing leads back to the payment automatically.
    sessionStorage.clear()
    expect(takeUpSent()).toBe(false)
  })
})

describe('the price has changed', () => {
  const price = { idlayanan: 5, harga: 7_000, harga_sampai: null }
  const refuse = () => last().answer(409, 'harga layanan berubah', undefined, price)

  it('the screen learns the new price, nothing is sent at it, and no message says the same', async () => {
    const { tap } = await open()
    await tap()
    await refuse()
    expect(shop.prices).toEqual([price])
    expect(shop.place).toBe('/pembayaran')
    expect(shownToasts()).toEqual([])
    await pass(30 * MINUTE)
    expect(shop.asked).toHaveLength(1)
  })

  it('so does one that was lost before, whatever the price is by then', async () => {
    const { tap } = await open()
    await tap()
    await last().lose()
    await pass(1_000)
    await refuse()
    expect(shop.prices).toEqual([price])
    expect(shop.asked).toHaveLength(2)
  })

  it('who has left is told the price, and of which machine', async () => {
    const { tap, leave } = await open()
    await tap()
    leave()
    await refuse()
    expect(shop.prices).toEqual([])
    const title = 'Harga layanan berubah menjadi Rp 7.000'
    expect(shownToasts()).toMatchObject([{ kind: 'failure', title, body: ['Mesin 07', SAFE] }])
  })

  it('another refusal without a price is told as it is', async () => {
    const { tap } = await open()
    await tap()
    await last().answer(409, 'harga layanan berubah', undefined, null)
    expect(shop.prices).toEqual([])
    expect(shownToasts()).toMatchObject([{ title: 'harga layanan berubah' }])
  })
})
