import type { Page } from '@playwright/test'
import { balance, type Customer, newCustomer, newWorld, ops, type World } from './support/api.ts'
import { look } from './support/look.ts'
import { readQr } from './support/qr.ts'
import { play, takeQris } from './support/qris.ts'
import { expect, openAs, test, toastOf } from './support/test.ts'

const open = (page: Page) => page.getByRole('button', { name: 'Isi dengan QRIS' })
const sheet = (page: Page) => page.getByRole('dialog', { name: 'Isi dengan QRIS' })
const picture = (page: Page) => page.getByRole('img', { name: /^Kode QRIS/ })
const paidIn = (page: Page) => page.getByRole('status').filter({ hasText: 'Saldo masuk' })

async function shop(): Promise<{ world: World; customer: Customer }> {
  const world = await newWorld([])
  await takeQris(world.idoutlet, 'simulated')
  return { world, customer: await newCustomer('Siti Rahmawati') }
}

/** Chooses an amount at the outlet, which is searched for where there are many. */
async function choose(page: Page, { outlet }: World, amount: string | RegExp = 'Rp 50.000'): Promise<void> {
  await open(page).click()
  await expect(sheet(page)).toBeVisible()
  const search = sheet(page).getByLabel('Cari outlet')
  if (await search.isVisible()) await search.fill(outlet)
  const chip = sheet(page).getByRole('button', { name: new RegExp(outlet) })
  // The only outlet is no choice.
  if ((await chip.isVisible()) && (await chip.getAttribute('aria-pressed')) === 'false') await chip.click()
  await sheet(page).getByRole('button', { name: amount, exact: true }).click()
}

/** By keyboard: right after the tap that opened the sheet, a tap in the same place is ignored. */
const submit = (page: Page) =>
  sheet(page)
    .getByRole('button', { name: /^Tampilkan QRIS/ })
    .press('Enter')

/** Asks for a bill; returns its number. */
async function ask(page: Page, world: World, amount: string | RegExp = 'Rp 50.000'): Promise<string> {
  await choose(page, world, amount)
  const asked = page.waitForResponse(
    (response) => response.url().endsWith('/epayment/tagihan') && response.request().method() === 'POST',
  )
  await submit(page)
  const { data } = await (await asked).json()
  await expect(picture(page)).toBeVisible()
  return data.idtagihan
}

test('paying by QRIS: the code, the time left, the picture, and the balance', async ({ page }) => {
  const { world, customer } = await shop()
  await openAs(page, customer, '/topUpPage')
  await expect(page.getByRole('img', { name: /Kode QR Anda/ })).toBeVisible()
  await expect(open(page)).toBeVisible()
  await choose(page, world)
  await look(page, 'qris-pilih')
  await page.keyboard.press('Escape')
  await expect(sheet(page)).toHaveCount(0)
  const id = await ask(page, world)
  expect(id).toMatch(/^NYL[0-9A-Z]{20}$/)
  await expect(page.getByText('Menunggu pembayaran')).toBeVisible()
  await expect(page.getByText(/^(29|30):\d\d$/)).toBeVisible()
  expect(await readQr((await picture(page).getAttribute('src')) ?? '')).not.toBe('')
  await look(page, 'qris')

  const download = page.waitForEvent('download')
  await page.getByRole('button', { name: 'Simpan gambar' }).click()
  expect((await download).suggestedFilename()).toBe('qris-nyala.png')

  await play(id, { aksi: 'bayar', kali: 3 })
  await expect(paidIn(page)).toHaveText('Saldo masuk Rp 50.000Saldo sekarang Rp 50.000')
  await look(page, 'qris-masuk')
  expect(await balance(customer)).toBe(50_000)
  await page.getByRole('button', { name: 'Isi lagi' }).click()
  await expect(page.getByRole('img', { name: /Kode QR Anda/ })).toBeVisible()
  await page.reload()
  await expect(open(page)).toBeVisible()
  await page.getByRole('button', { name: 'Kembali' }).click()
  await expect(page.getByText('Rp 50.000')).toBeVisible()
})

test('a package of the outlet, and a provider that tells nobody', async ({ page }) => {
  const { world, customer } = await shop()
  await ops('paket', { idoutlet: world.idoutlet, nama: 'Paket Hemat', harga: 100_000, quota: 110_000 })
  await openAs(page, customer, '/topUpPage')
  const id = await ask(page, world, /^Paket Hemat: bayar Rp.100\.000, saldo Rp.110\.000$/)
  await expect(page.getByText(/Saldo bertambah Rp 110\.000/)).toBeVisible()
  await play(id, { aksi: 'bayar', diam: true })
  await expect(paidIn(page)).toHaveText('Saldo masuk Rp 110.000Saldo sekarang Rp 110.000')
})

test('an outlet without QRIS offers none', async ({ page }) => {
  const customer = await newCustomer()
  await page.route('**/epayment/qris', (route) =>
    route.fulfill({ json: { status: 200, message: 'ok', data: [] } }),
  )
  const asked = page.waitForResponse('**/epayment/qris')
  await openAs(page, customer, '/topUpPage')
  await asked
  await expect(page.getByRole('heading', { name: 'Cara Top-Up' })).toBeVisible()
  await expect(open(page)).toHaveCount(0)
})

test('a reload and the way back from the bank continue with the same bill', async ({ page }) => {
  const { world, customer } = await shop()
  await openAs(page, customer, '/topUpPage')
  const id = await ask(page, world)
  await page.reload()
  await expect(picture(page)).toBeVisible()
  await expect(page.getByText('Menunggu kabar bank')).toBeVisible()
  await look(page, 'qris-bank')
  // Paid while the app was closed.
  await page.goto('/favicon.svg')
  await play(id, { aksi: 'bayar' })
  await page.goto('/topUpPage')
  await expect(paidIn(page)).toHaveText('Saldo masuk Rp 50.000Saldo sekarang Rp 50.000')
  await page.reload()
  await expect(page.getByRole('img', { name: /Kode QR Anda/ })).toBeVisible()
})

test('a deep link leads to the bank and back', async ({ page, context }) => {
  const { world, customer } = await shop()
  const deeplink = 'https://bank.example/bayar/7Q'
  // The simulated provider has none.
  await page.route(/epayment\/tagihan/, async (route) => {
    const response = await route.fetch()
    const { data, ...answer } = await response.json()
    await route.fulfill({ response, json: { ...answer, data: data && { ...data, deeplink } } })
  })
  await context.route(deeplink, (route) =>
    route.fulfill({ contentType: 'text/html', body: '<title>Bank</title>' }),
  )
  await openAs(page, customer, '/topUpPage')
  const id = await ask(page, world)
  const toBank = page.getByRole('link', { name: 'Buka aplikasi bank' })
  await expect(toBank).toHaveAttribute('href', deeplink)
  await expect(page.getByRole('button', { name: 'Simpan gambar' })).toBeVisible()
  await look(page, 'qris-tautan')
  await toBank.click()
  await expect(page).toHaveURL(deeplink)
  await play(id, { aksi: 'bayar', diam: true })
  await page.goBack()
  await expect(paidIn(page)).toHaveText('Saldo masuk Rp 50.000Saldo sekarang Rp 50.000')
})

test('without network the same request is sent until it is answered: one bill', async ({ page, line }) => {
  const { world, customer } = await shop()
  await openAs(page, customer, '/topUpPage')
  await choose(page, world)
  const sent: string[] = []
  page.on('request', (request) => {
    if (request.method() === 'POST' && request.url().endsWith('/epayment/tagihan'))
      sent.push(request.postDataJSON().id)
  })
  // The server gets the first request, and its answer is lost.
  await page.route('**/epayment/tagihan', async (route) => {
    await route.fetch()
    await route.abort()
  })
  await submit(page)
  await expect.poll(() => sent.length).toBeGreaterThan(0)
  await page.unrouteAll({ behavior: 'ignoreErrors' })
  line.cut()
  await page.waitForTimeout(500)
  line.mend()
  await expect(picture(page)).toBeVisible({ timeout: 40_000 })
  await page.reload()
  await expect(picture(page)).toBeVisible()
  expect(new Set(sent).size).toBe(1)
})

test('a bill that is cancelled, and one that runs out', async ({ page }) => {
  const { world, customer } = await shop()
  await openAs(page, customer, '/topUpPage')
  await ask(page, world)
  await page.getByRole('button', { name: 'Batalkan' }).click()
  await expect(toastOf(page, 'Pembayaran QRIS dibatalkan')).toBeVisible()
  await expect(page.getByRole('img', { name: /Kode QR Anda/ })).toBeVisible()

  const id = await ask(page, world, 'Rp 20.000')
  await play(id, { aksi: 'kedaluwarsa' })
  await expect(page.getByText('Waktu bayar sudah habis')).toBeVisible()
  await look(page, 'qris-habis')
  // Who pays late is credited.
  await play(id, { aksi: 'terlambat' })
  await expect(paidIn(page)).toContainText('Saldo masuk Rp 20.000', { timeout: 30_000 })
})

test('another amount than the bill is kept back, and the customer is told', async ({ page }) => {
  const { world, customer } = await shop()
  await openAs(page, customer, '/topUpPage')
  const id = await ask(page, world)
  await play(id, { aksi: 'bayar', jumlah: 40_000 })
  await expect(page.getByText('Pembayaran sudah diterima, saldo belum masuk')).toBeVisible()
  await expect(page.getByText(new RegExp(id))).toBeVisible()
  await page.getByRole('button', { name: 'Tutup' }).click()
  await expect(page.getByRole('img', { name: /Kode QR Anda/ })).toBeVisible()
  expect(await balance(customer)).toBe(0)
})

test('a refusal leaves the choice open', async ({ page }) => {
  const { world, customer } = await shop()
  await openAs(page, customer, '/topUpPage')
  await choose(page, world, 'Rp 200.000')
  await page.route('**/epayment/tagihan', (route) =>
    route.fulfill({
      status: 422,
      json: { status: 422, message: 'saldo paling banyak Rp 2.000.000', data: null },
    }),
  )
  await submit(page)
  await expect(toastOf(page, 'saldo paling banyak Rp 2.000.000')).toBeVisible()
  await expect(sheet(page).getByRole('button', { name: 'Rp 200.000', exact: true })).toHaveAttribute(
    'aria-pressed',
    'true',
  )
})
