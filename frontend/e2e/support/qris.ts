import { createHash } from 'node:crypto'
import type { Page, Response } from '@playwright/test'
import { type Customer, ops } from './api.ts'
import { expect } from './test.ts'
import { button, enterTill, findByNumber, openShift, readyShop, type Shop } from './till.ts'

/** How an outlet takes QRIS from now on. */
export const takeQris = (idoutlet: number, qris: 'off' | 'manual' | 'midtrans' | 'simulated') =>
  ops(`outlet/${idoutlet}`, { qris })

interface Played {
  aksi: 'bayar' | 'kedaluwarsa' | 'terlambat'
  /** What was paid, if not the bill's amount. */
  jumlah?: number
  /** How many notifications come at once. */
  kali?: number
  /** No notification: only asking finds it. */
  diam?: boolean
}

/** What happens to a bill at the simulated provider. */
export async function play(idtagihan: string, played: Played): Promise<void> {
  const answer = await fetch(`${process.env.NYALA_URL}/dev/qris/${idtagihan}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(played),
  })
  if (!answer.ok) throw new Error(`dev/qris: ${answer.status} ${await answer.text()}`)
}

/** The id of the bill that the page makes by `act`. */
export async function billMadeBy(page: Page, act: () => Promise<unknown>): Promise<string> {
  const isMaking = (response: Response) =>
    response.request().method() === 'POST' && new URL(response.url()).pathname === '/ops/v1/tagihan'
  const [response] = await Promise.all([page.waitForResponse(isMaking), act()])
  const { data, message } = (await response.json()) as { data: { idtagihan: string } | null; message: string }
  if (!data) throw new Error(`tagihan: ${message}`)
  return data.idtagihan
}

/** A till whose outlet takes QRIS in this way. */
export async function openWith(
  page: Page,
  qris: Parameters<typeof takeQris>[1],
  url?: string,
): Promise<Shop> {
  const shop = await readyShop(page, { ...(url && { url }) })
  await takeQris(shop.idoutlet, qris)
  await enterTill(shop, await openShift(shop))
  return shop
}

export async function choose(
  page: Page,
  customer: Customer,
  amount = 'Rp 50.000',
  method = 'QRIS',
): Promise<void> {
  await findByNumber(page, customer)
  await button(page, amount).click()
  await button(page, method).click()
}

/** Makes a bill of Rp 50.000 that is shown; the id of it. */
export async function makeBill(page: Page, customer: Customer): Promise<string> {
  await choose(page, customer)
  const id = await billMadeBy(page, () => button(page, 'Tampilkan QRIS Rp 50.000').click())
  await expect(page.getByRole('heading', { name: 'Menunggu pembayaran' })).toBeVisible()
  await expect(page.getByRole('img', { name: 'Kode QRIS Rp 50.000' })).toBeVisible()
  return id
}

/** The simulated provider reports a payment of an order that is not there: a restore has lost its bill. The server's first owner gets it. */
export async function payLostBill(order_id: string, rupiah: number): Promise<void> {
  const [status_code, gross_amount] = ['200', `${rupiah}.00`]
  const signed = [order_id, status_code, gross_amount, 'simulated'].join('')
  const signature_key = createHash('sha512').update(signed).digest('hex')
  const answer = await fetch(`${process.env.NYALA_URL}/qris/simulated`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({
      order_id,
      status_code,
      gross_amount,
      transaction_status: 'settlement',
      currency: 'IDR',
      signature_key,
    }),
  })
  if (!answer.ok) throw new Error(`qris/simulated: ${answer.status} ${await answer.text()}`)
}
