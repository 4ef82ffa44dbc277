import { act } from '@testing-library/react'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { servicesQuery } from '../calls'
import { usePaid } from '../paid/paid'
import { openReceipt, purchaseFlow } from '../purchase-flow'
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

// The import of the paid layer takes no time in these tests.
vi.mock('../paid/paid', async (original) => {
  const file = await original<typeof import('../paid/paid')>()
  return { ...file, paidLayerThere: async () => true }
})

const other = { ...flow, mesin: { ...flow.mesin, id: 8 } }

beforeEach(begin)
afterEach(end)

describe('a lost answer', () => {
  it('is asked for again by the same receipt, until the server has decided', async () => {
    const { tap, phase, receipt } = await open()
    await tap()
    await last().lose()
    expect(phase()).toBe('asking')
    await pass(999)
    expect(shop.asked).toHaveLength(1)
    await pass(1)
    expect(shop.asked).toHaveLength(2)
    await last().answer(429, 'tunggu', '30')
    await pass(29_999)
    expect(shop.asked).toHaveLength(2)
    await pass(1)
    expect(shop.asked).toHaveLength(3)
    expect(shownToasts()).toEqual([])
    await last().answer(200)
    expect(await Promise.all(shop.asked.map(({ nota }) => nota))).toEqual(Array(3).fill(receipt.nota))
    expect(usePaid.getState().paid).toMatchObject({ idmesin: 7 })
    expect(shop.place).toBe('/dashboard')
  })

  it('is asked for at once when the network is back', async () => {
    const { tap } = await open()
    await tap()
    for (let lost = 0; lost < 4; lost++) {
      await last().lose()
      act(() => void window.dispatchEvent(new Event('online')))
      await pass()
    }
    expect(shop.asked).toHaveLength(5)
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
    // Fifteen minutes after the last attempt.
    await pass(15 * MINUTE)
    expect(stillOpen(receipt.nota)).toBe(true)
    const before = shop.asked.length
    await pass(30 * MINUTE)
    expect(shop.asked).toHaveLength(before)
    expect(shownToasts()).toEqual([])
    expect(shop.place).toBe('/pembayaran')
    await tap()
    expect(phase()).toBe('asking')
    expect(await last().nota).toBe(receipt.nota)
    await last().answer(200)
    expect(shop.place).toBe('/dashboard')
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
    expect(shop.asked).toHaveLength(2)
    expect(await last().nota).toBe(first.receipt.nota)
    expect(receipt.saldo).toBe(50_000)
    // An earlier attempt may have taken money, whatever the first answer is now.
    await last().answer(409, 'mesin sedang digunakan')
    expect(shownToasts()).toMatchObject([{ body: [SEE_BALANCE] }])
  })

  it('later the customer is asked', async () => {
    const first = await open()
    await first.tap()
    first.leave()
    await pass(MINUTE)
    const { phase, tap } = await open()
    await pass(MINUTE)
    expect(phase()).toBe('unknown')
    expect(shop.asked).toHaveLength(1)
    await tap()
    expect(phase()).toBe('asking')
    expect(await last().nota).toBe(first.receipt.nota)
  })

  it('nothing was tapped: nothing is sent', async () => {
    ;(await open()).leave()
    const { phase } = await open()
    await pass(MINUTE)
    expect(phase()).toBe('ready')
    expect(shop.asked).toEqual([])
  })
})

describe('who leaves', () => {
  it('buys nothing behind their own back', async () => {
    const { tap, leave, receipt } = await open()
    await tap()
    await last().lose()
    leave()
    await pass(30 * MINUTE)
    expect(shop.asked).toHaveLength(1)
    expect(shownToasts()).toEqual([])
    expect(openReceipt(flow).nota).toBe(receipt.nota)
  })

  it('while the answer is under way is told which machine it was about, and stays where they are', async () => {
    const { tap, leave } = await open()
    await tap()
    leave()
    // In the meantime the customer chooses another machine, and its prices are on the screen.
    purchaseFlow.write(other)
    shop.client.setQueryData(servicesQuery('NYM1.y').queryKey, { pages: [], pageParams: [] })
    await last().answer(200)
    expect(shownToasts()).toMatchObject([{ kind: 'success', body: ['Mesin 07', expect.any(String)] }])
    expect(shop.place).toBe('/pembayaran')
    expect(purchaseFlow.read()?.mesin.id).toBe(8)
    expect(shop.client.getQueryState(servicesQuery('NYM1.y').queryKey)?.isInvalidated).toBe(true)
  })
})
