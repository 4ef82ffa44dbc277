import { expect, type Page } from '@playwright/test'
import { type Customer, newCustomer, newWorld, topUp, type World } from './api.ts'
import { openAs } from './test.ts'

/** Rupiah: of 'Cuci Kilat', and what a customer has at first. */
export const PRICE = 8_000
export const BALANCE = 50_000

/** An outlet whose first service takes `duration` seconds, and somebody who can pay there. */
export async function shop(duration = 600): Promise<{ world: World; customer: Customer }> {
  const world = await newWorld([
    { nama: 'Cuci Kilat', durasi: duration, harga: PRICE },
    { nama: 'Cuci Reguler', durasi: 2_130, harga: 15_000 },
  ])
  return { world, customer: await fundedAt(world) }
}

/** Somebody who can pay at the outlet. */
export async function fundedAt(world: World): Promise<Customer> {
  const customer = await newCustomer('Siti Rahmawati')
  await topUp(customer, world.idoutlet, BALANCE)
  return customer
}

/** On the scanner. With the key, for a sheet that a tap opens takes the next tap at that place for its second. */
export async function enterCode(page: Page, code: string): Promise<void> {
  await page.getByRole('button', { name: 'Ketik kode' }).click()
  await page.getByLabel('Kode mesin', { exact: true }).fill(code)
  await page.keyboard.press('Enter')
}

/** From the scanner to the receipt, by the typed code. */
export async function toReceipt(page: Page, world: World, customer: Customer): Promise<void> {
  await openAs(page, customer, '/scanPage')
  await enterCode(page, world.machine.kode)
  await page.getByRole('button', { name: /Cuci Kilat/ }).click()
  await page.getByRole('button', { name: new RegExp(world.outlet) }).click()
  await expect(page).toHaveURL('/pembayaran')
  await expect(page.getByText(/^SLF\d{15}$/)).toBeVisible()
}

export const pay = (page: Page) => page.getByRole('button', { name: 'Bayar & Nyalakan Mesin' }).click()
