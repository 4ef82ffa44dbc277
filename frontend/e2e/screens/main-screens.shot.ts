import { join } from 'node:path'
import { expect, type Page, test } from '@playwright/test'
import { type Customer, newCustomer, newMachine, ops, topUp, type World } from '../support/api.ts'
import { expectFineScreen } from '../support/axe.ts'
import { buy } from '../support/buy.ts'
import { film, withCamera } from '../support/camera.ts'
import { repo } from '../support/nyala.ts'
import { openAs } from '../support/test.ts'

const FOLDER = join(repo, 'docs/screens')
const PHONE = { width: 360, height: 780 }

/** What the camera sees before there is a code in its view. */
const MACHINE = `<svg xmlns="http://www.w3.org/2000/svg" width="480" height="480" viewBox="0 0 120 120" fill="none" stroke="#555" stroke-width="3"><rect x="14" y="4" width="92" height="112" rx="12" fill="#f4f4f4"/><path d="M14 30h92"/><circle cx="30" cy="17" r="4"/><circle cx="60" cy="72" r="31" fill="#ddd"/><circle cx="60" cy="72" r="22" fill="#9ab"/></svg>`

async function outlet(idowner: number, name: string, services: [string, number, number][]): Promise<World> {
  const place = { kota: 'Bandung', latitude: -6.9147, longitude: 107.6098 }
  const { idoutlet } = await ops<{ idoutlet: number }>('outlet', { idowner, nama: name, ...place })
  for (const [service, duration, price] of services)
    await ops('layanan', { idoutlet, nama: service, durasi: duration, harga: price })
  return { idowner, idoutlet, outlet: name, machine: await newMachine(idoutlet, 'Mesin 03') }
}

interface Stage {
  customer: Customer
  first: World
  code: string
}

/** A customer of two outlets with a history, one long run and one that is about to end. */
async function stage(): Promise<Stage> {
  const { idowner } = await ops<{ idowner: number }>('owner', { nama: 'Laundry Melati Group' })
  const first = await outlet(idowner, 'Laundry Melati', [['Cuci Reguler', 2_100, 15_000]])
  const second = await outlet(idowner, 'Cuci Kilat Dago', [['Pengering', 90, 5_000]])
  const customer = await newCustomer('Siti Rahmawati')
  await topUp(customer, first.idoutlet, 100_000)
  await topUp(customer, second.idoutlet, 25_000)
  const { receiptNumber } = await buy(customer, first)
  await buy(customer, second)
  await ops('refund', { idtransaksi: receiptNumber, nominal: 5_000, alasan: 'noda belum hilang' })
  for (const [name, duration, price] of [
    ['Cuci Kilat', 1_500, 18_000],
    ['Cuci Selimut', 3_600, 25_000],
    ['Pengering', 2_400, 12_000],
  ] as const) {
    await ops('layanan', { idoutlet: first.idoutlet, nama: name, durasi: duration, harga: price })
  }
  return { customer, first, code: (await newMachine(first.idoutlet, 'Mesin 11')).kode }
}

async function shot(page: Page, name: string): Promise<void> {
  await expectFineScreen(page)
  await page.screenshot({ path: join(FOLDER, `${name}.png`) })
}

const messagesGone = (page: Page) =>
  expect(page.locator('[data-sonner-toast]')).toHaveCount(0, { timeout: 15_000 })

async function publicScreens(page: Page): Promise<void> {
  await page.goto('/')
  await expect(page.getByRole('button', { name: 'Masuk' })).toBeVisible()
  await shot(page, 'selamat-datang')
  await page.goto('/login')
  await expect(page.getByRole('button', { name: 'Masuk' })).toBeVisible()
  await shot(page, 'masuk')
}

async function accountScreens(page: Page, suffix = ''): Promise<void> {
  await page.goto('/dashboard')
  await expect(page.getByRole('timer')).toHaveCount(2)
  await expect(page.getByRole('timer').filter({ hasText: /00:[0-4]\d$/ })).toBeVisible({ timeout: 90_000 })
  await shot(page, `beranda${suffix}`)
  await page.goto('/riwayatPage')
  await expect(page.getByRole('main').getByRole('listitem').first()).toBeVisible()
  await shot(page, `riwayat${suffix}`)
  await page.goto('/topUpPage')
  await expect(page.getByRole('img', { name: /Kode QR/ })).toBeVisible()
  await shot(page, `top-up${suffix}`)
}

async function purchaseScreens(page: Page, { customer, code }: Stage): Promise<void> {
  await openAs(page, customer, '/scanPage')
  await page.getByRole('button', { name: 'Ketik kode mesin' }).click()
  await page.getByLabel('Kode mesin', { exact: true }).fill(code)
  await page.getByRole('button', { name: 'Cari mesin' }).click()
  await expect(page.getByText('Cuci Selimut')).toBeVisible()
  await messagesGone(page)
  await shot(page, 'pilih-layanan')
  await page.getByRole('button', { name: /Cuci Reguler/ }).click()
  await expect(page.getByText('2 E-Pay ditemukan')).toBeVisible()
  await shot(page, 'pilih-epay')
  await page.getByRole('button', { name: /Laundry Melati/ }).click()
  await expect(page.getByText(/^SLF\d{15}$/)).toBeVisible()
  await shot(page, 'pembayaran')
}

async function scanScreen(page: Page, customer: Customer, baseURL: string): Promise<void> {
  await page.setContent(`<body style="margin:0">${MACHINE}`)
  const picture = await page.locator('svg').screenshot()
  const browser = await withCamera(await film(page, picture))
  try {
    const context = await browser.newContext({
      baseURL,
      viewport: PHONE,
      deviceScaleFactor: 2,
      locale: 'id-ID',
    })
    const phone = await context.newPage()
    await openAs(phone, customer, '/scanPage')
    await expect
      .poll(() => phone.locator('video').evaluate((video: HTMLVideoElement) => video.currentTime))
      .toBeGreaterThan(0)
    await shot(phone, 'scan')
  } finally {
    await browser.close()
  }
}

test.use({ baseURL: async ({}, use) => use(process.env.NYALA_URL ?? '') })

test('the main screens', async ({ page, baseURL }) => {
  await publicScreens(page)
  const light = await stage()
  await openAs(page, light.customer)
  await accountScreens(page)
  await page.goto('/riwayatPage')
  await page.getByRole('main').getByRole('listitem').filter({ hasText: '-Rp 15.000' }).click()
  await expect(page.getByText('Harga Layanan')).toBeVisible()
  // The picture is of a receipt that the app could have made: its number has the day on which it was paid.
  const receiptNumber = await page.getByText(/^SLF\d{15}$/).textContent()
  const [, year, month, day] = /^SLF(\d\d)(\d\d)(\d\d)/.exec(receiptNumber ?? '') ?? []
  await expect(page.getByRole('dialog').getByText(`${day}/${month}/20${year}`)).toBeVisible()
  await shot(page, 'riwayat-detail')
  await page.goto('/akun')
  await expect(page.getByText('Siti Rahmawati')).toBeVisible()
  await shot(page, 'akun')
  await purchaseScreens(page, light)
  await scanScreen(page, light.customer, baseURL ?? '')
})

test('the main screens in the dark', async ({ page }) => {
  await page.emulateMedia({ colorScheme: 'dark' })
  const dark = await stage()
  await openAs(page, dark.customer)
  await accountScreens(page, '-gelap')
})
