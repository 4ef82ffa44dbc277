import type { BrowserContext, Page } from '@playwright/test'
import { balance, type Customer, newCustomer, ops, topUp } from './support/api.ts'
import { buy } from './support/buy.ts'
import { lookAtSizes } from './support/look.ts'
import { PHONE } from './support/sizes.ts'
import { expect, openAs, test } from './support/test.ts'
import {
  button,
  callAt,
  codeOf,
  findByNumber,
  lock,
  logIn,
  openTill,
  PIN,
  type Shop,
  scanAt,
  TABLET,
  tokenOf,
} from './support/till.ts'

test.use({ viewport: TABLET })

/** Siti paid Rp 40.000 for Rp 50.000 in cash, at this till. */
async function stage(page: Page, context: BrowserContext, cara_bayar = 'tunai', url?: string) {
  const shop = await openTill(page, { ...(url && { url }) })
  const offer = { idoutlet: shop.idoutlet, nama: 'Paket Hemat', harga: 40_000, quota: 50_000 }
  const { idpaket } = await ops<{ idpaket: number }>('paket', offer)
  const customer = await newCustomer('Siti Rahma')
  await sell(shop, customer, { nominal: 40_000, idpaket, cara_bayar })
  // A phone that is shown what came in has no code.
  const phone = await context.newPage()
  await openAs(phone, customer, '/topUpPage')
  return { shop, phone, customer }
}

const sell = async ({ page, idoutlet }: Shop, { telp }: Customer, more: object) =>
  callAt(page, 'topup', { telp: `0${telp}`, idoutlet, ...more }, await tokenOf(page))

/** The customer's code is scanned, and the payout is counted. */
async function openPayout(page: Page, phone: Page): Promise<void> {
  await scanAt(page, await codeOf(phone))
  await button(page, 'Tarik saldo').click()
}

const dialog = (page: Page) => page.getByRole('dialog', { name: 'Tarik saldo' })
const says = 'Rp 40.000 dibayar, bonus Rp 10.000 hangus.'

test('a cashier pays a balance out with a supervisor, and says before what is lost', async ({
  page,
  context,
}) => {
  const { phone, customer } = await stage(page, context)
  await openPayout(page, phone)
  await expect(dialog(page).getByText(says)).toBeVisible()
  await expect(dialog(page).getByText('Sesudah itu saldo Siti R. di outlet ini Rp 0.')).toBeVisible()
  await button(page, 'Bayar Rp 40.000 tunai').click()
  await expect(dialog(page).getByText('PIN Hadi')).toBeVisible()
  await page.keyboard.type(PIN.hadi)
  await expect(dialog(page).getByText('Berikan Rp 40.000 dari laci kepada Siti R.')).toBeVisible()
  await expect(button(page, 'Cetak struk')).toBeVisible()
  expect(await balance(customer)).toBe(0)
  await button(page, 'Selesai').click()
  await expect(page.getByText('Ketik nomor WhatsApp')).toBeAttached()

  // A cashier's count is blind: a supervisor sees what left the drawer.
  await lock(page)
  await logIn(page, 'Hadi', PIN.hadi)
  await page.getByRole('link', { name: 'Shift' }).click()
  await expect(page.getByText('Tarik saldo')).toBeVisible()
  await expect(page.getByText('-Rp 40.000')).toBeVisible()
})

test('the receipt of a payout is printed', async ({ page, context }) => {
  const { phone } = await stage(page, context)
  await openPayout(page, phone)
  await button(page, 'Bayar Rp 40.000 tunai').click()
  await page.keyboard.type(PIN.hadi)
  await expect(button(page, 'Cetak struk')).toBeVisible()
  const paper = await page
    .locator('body > [aria-hidden="true"]')
    .filter({ hasText: 'TARIK SALDO' })
    .innerText()
  for (const part of ['Siti R.', 'Dibayar tunai', 'Rp 40.000', 'Bonus hangus', 'Rp 10.000', 'Rina'])
    expect(paper).toContain(part)
})

test('nobody pays out without the customer’s own code', async ({ page, context }) => {
  const { customer } = await stage(page, context)
  await findByNumber(page, customer)
  await button(page, 'Rp 50.000').click()
  await expect(button(page, 'Isi Rp 50.000 untuk Siti')).toBeVisible()
  await expect(button(page, 'Tarik saldo')).toHaveCount(0)
  await expect(button(page, 'Pindah nomor')).toHaveCount(0)
})

test('a drawer with too little pays nothing', async ({ page, context }) => {
  const { phone, customer } = await stage(page, context, 'transfer')
  await openPayout(page, phone)
  await button(page, 'Bayar Rp 40.000 tunai').click()
  await page.keyboard.type(PIN.hadi)
  await expect(dialog(page).getByText('Uang di laci tidak cukup')).toBeVisible()
  expect(await balance(customer)).toBe(50_000)
})

test('what changed since it was counted is counted again', async ({ page, context }) => {
  const { shop, phone, customer } = await stage(page, context)
  await lock(page)
  await logIn(page, 'Hadi', PIN.hadi)
  await expect(page.getByText('Ketik nomor WhatsApp')).toBeAttached()
  await openPayout(page, phone)
  await expect(dialog(page).getByText(says)).toBeVisible()
  await sell(shop, customer, { nominal: 20_000, cara_bayar: 'tunai' })
  await button(page, 'Bayar Rp 40.000 tunai').click()
  await expect(dialog(page).getByText('Jumlah berubah, hitung lagi')).toBeVisible()
  // A supervisor pays out without an approval.
  await button(page, 'Bayar Rp 60.000 tunai').click()
  await expect(dialog(page).getByText('Berikan Rp 60.000 dari laci kepada Siti R.')).toBeVisible()
  expect(await balance(customer)).toBe(0)
})

test('while a machine runs for the customer nothing is paid out', async ({ page, context }) => {
  const { world, idoutlet } = await openTill(page, {
    services: [{ nama: 'Cuci Reguler', durasi: 2_100, harga: 15_000 }],
  })
  const customer = await newCustomer('Siti Rahma')
  await topUp(customer, idoutlet, 50_000)
  await buy(customer, world)
  const phone = await context.newPage()
  await openAs(phone, customer, '/topUpPage')
  await openPayout(page, phone)
  await expect(dialog(page).getByText(/masih ada mesin yang belum selesai/i)).toBeVisible()
  await expect(button(page, 'Coba lagi')).toBeVisible()
})

test('a payout whose answer is lost happens once', async ({ page, context }) => {
  const { phone, customer } = await stage(page, context)
  const keys: (string | undefined)[] = []
  await page.route('**/ops/v1/tarik', async (route) => {
    keys.push(route.request().headers()['idempotency-key'])
    if (keys.length > 1) return route.continue()
    await route.fetch()
    return route.abort('connectionreset')
  })
  await openPayout(page, phone)
  await button(page, 'Bayar Rp 40.000 tunai').click()
  await page.keyboard.type(PIN.hadi)
  await expect(page.getByText('Belum terjawab: Tarik saldo Rp 40.000 untuk Siti R.')).toBeVisible()
  await button(page, 'Tanyakan sekarang').click()
  await expect(dialog(page).getByText('Berikan Rp 40.000 dari laci kepada Siti R.')).toBeVisible()
  expect(new Set(keys).size).toBe(1)
  expect(await balance(customer)).toBe(0)
})

test('looks well at each size', async ({ page, context }) => {
  await page.setViewportSize(PHONE)
  const { phone } = await stage(page, context)
  await scanAt(page, await codeOf(phone))
  await expect(button(page, 'Tarik saldo')).toBeVisible()
  await lookAtSizes(page, 'tarik-pelanggan')
  await button(page, 'Tarik saldo').click()
  await expect(dialog(page).getByText(says)).toBeVisible()
  await lookAtSizes(page, 'tarik')
  await button(page, 'Bayar Rp 40.000 tunai').click()
  await expect(dialog(page).getByText('PIN Hadi')).toBeVisible()
  await lookAtSizes(page, 'tarik-persetujuan')
  await page.keyboard.type(PIN.hadi)
  await expect(dialog(page).getByText('Berikan Rp 40.000 dari laci kepada Siti R.')).toBeVisible()
  await lookAtSizes(page, 'tarik-selesai')
  await button(page, 'Selesai').click()
  await lock(page)
  await logIn(page, 'Hadi', PIN.hadi)
  await page.getByRole('link', { name: 'Shift' }).click()
  await expect(page.getByText('-Rp 40.000')).toBeVisible()
  await lookAtSizes(page, 'tarik-shift')
})
