import { expect, type Page } from '@playwright/test'
import { type Customer, newCustomer, newWorld, topUp, type World } from './api.ts'
import { openAs } from './test.ts'

/** Rupiah: the price of 'Cuci Kilat', and a customer's balance at first. */
export const PRICE = 8_000
export const BALANCE = 50_000

/** An outlet whose first service takes `duration` seconds, and a customer who can pay there. */
export async function shop(duration = 600): Promise<{ world: World; customer: Customer }> {
  const world = await newWorld([
    { nama: 'Cuci Kilat', durasi: duration, harga: PRICE },
    { nama: 'Cuci Reguler', durasi: 2_130, harga: 15_000 },
  ])
  return { world, customer: await fundedAt(world) }
}

/** A customer who can pay at the outlet. */
export async function fundedAt(world: World): Promise<Customer> {
  const customer = await newCustomer('Siti Rahmawati')
  await topUp(customer, world.idoutlet, BALANCE)
  return customer
}

/**
 * Types the code on the scanner. By keyboard: a sheet that a tap opens treats the next tap at that place as the second tap of a double
 * tap.
 */
export async function enterCode(page: Page, code: string): Promise<void> {
  await page.getByRole('button', { name: 'Ketik kode' }).click()
  await page.getByLabel('Kode mesin', { exact: true }).fill(code)
  await page.keyboard.press('Enter')
}

/** Walks from the scanner to the receipt by the typed code. */
export async function toReceipt(page: Page, world: World, customer: Customer): Promise<void> {
  await openAs(page, customer, '/scanPage')
  await enterCode(page, world.machine.kode)
  await page.getByRole('button', { name: /Cuci Kilat/ }).click()
  await page.getByRole('button', { name: new RegExp(world.outlet) }).click()
  await expect(page).toHaveURL('/pembayaran')
  await expect(page.getByText(/^SLF\d{15}$/)).toBeVisible()
}

export const pay = (page: Page) => page.getByRole('button', { name: 'Bayar & Nyalakan Mesin' }).click()
