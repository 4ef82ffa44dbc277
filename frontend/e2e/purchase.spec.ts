import type { Page } from '@playwright/test'
import {
  type Customer,
  fault,
  newCustomer,
  newMesin,
  newWorld,
  ops,
  saldo,
  scan,
  topUp,
  type World,
} from './support/api.ts'
import { buy } from './support/beli.ts'
import { expect, openAs, test, toastOf } from './support/test.ts'

const HARGA = 8_000
const SALDO = 50_000

async function shop(durasi = 600): Promise<{ world: World; customer: Customer }> {
  const world = await newWorld([
    { nama: 'Cuci Kilat', durasi, harga: HARGA },
    { nama: 'Cuci Reguler', durasi: 2_130, harga: 15_000 },
  ])
  const customer = await newCustomer('Siti Rahmawati')
  await topUp(customer, world.idoutlet, SALDO)
  return { world, customer }
}

/** Somebody else who can pay at the outlet. */
async function fundedAt(world: World): Promise<Customer> {
  const customer = await newCustomer()
  await topUp(customer, world.idoutlet, SALDO)
  return customer
}

async function enterKode(page: Page, kode: string): Promise<void> {
  await page.getByRole('button', { name: 'Ketik kode mesin' }).click()
  await page.getByLabel('Kode mesin', { exact: true }).fill(kode)
  await page.getByRole('button', { name: 'Cari mesin' }).click()
}

/** From the scanner to the receipt, by the typed code. */
async function toReceipt(page: Page, world: World, customer: Customer): Promise<void> {
  await openAs(page, customer, '/scanPage')
  await enterKode(page, world.mesin.kode)
  await page.getByRole('button', { name: /Cuci Kilat/ }).click()
  await page.getByRole('button', { name: new RegExp(world.outlet) }).click()
  await expect(page).toHaveURL('/pembayaran')
  await expect(page.getByText(/^SLF\d{15}$/)).toBeVisible()
}

const pay = (page: Page) => page.getByRole('button', { name: 'Bayar & Nyalakan Mesin' }).click()

test('a purchase by typed code, from the dashboard to the running machine', async ({ page }) => {
  const { world, customer } = await shop()
  await openAs(page, customer)
  await expect(page.getByRole('heading', { name: 'Siti Rahmawati', level: 1 })).toBeVisible()
  await expect(page.getByText('Rp 50.000')).toBeVisible()
  await page.getByRole('link', { name: 'Scan mesin' }).click()
  await expect(page.getByRole('heading', { name: 'Scan', exact: true })).toBeVisible()
  await expect(page.getByText('Petunjuk penggunaan')).toBeVisible()

  await enterKode(page, world.mesin.kode.toLowerCase())
  await expect(page).toHaveURL('/pilihLayanan')
  await expect(toastOf(page, 'Get Layanan Success')).toBeVisible()
  await expect(page.getByRole('heading', { name: 'Mesin 07' })).toBeVisible()
  await expect(page.getByRole('button', { name: /Cuci Reguler/ })).toContainText('35 menit')
  await page.getByRole('button', { name: /Cuci Kilat/ }).click()

  await expect(page).toHaveURL('/pilihEpay')
  await expect(page.getByText('1 E-Pay ditemukan')).toBeVisible()
  await page.getByRole('button', { name: new RegExp(world.outlet) }).click()

  await expect(page).toHaveURL('/pembayaran')
  await expect(page.getByText(/^SLF\d{15}$/)).toBeVisible()
  await expect(page.getByText('Rp 50.000')).toBeVisible()
  await expect(page.getByText('-Rp 8.000')).toBeVisible()
  await expect(page.getByText('Rp 42.000')).toBeVisible()
  await pay(page)

  await expect(page).toHaveURL('/dashboard')
  await expect(toastOf(page, 'Mesin Berhasil dinyalakan')).toBeVisible()
  await expect(page.getByText('Sedang Berlangsung')).toBeVisible()
  await expect(page.getByRole('timer')).toContainText(/(10:00|09:5\d)/)
  await expect(page.getByText('Rp 42.000')).toBeVisible()
  expect(await saldo(customer)).toBe(SALDO - HARGA)
})

test('a purchase goes on after a reload in every step', async ({ page }) => {
  const { world, customer } = await shop()
  await openAs(page, customer, '/scanPage')
  await enterKode(page, world.mesin.kode)
  await expect(page).toHaveURL('/pilihLayanan')
  await page.reload()
  await page.getByRole('button', { name: /Cuci Kilat/ }).click()
  await expect(page.getByText('1 E-Pay ditemukan')).toBeVisible()
  await page.reload()
  await page.getByRole('button', { name: new RegExp(world.outlet) }).click()
  const nota = await page.getByText(/^SLF\d{15}$/).textContent()
  await page.reload()
  await expect(page.getByText(nota ?? 'no nota')).toBeVisible()
  await pay(page)
  await expect(toastOf(page, 'Mesin Berhasil dinyalakan')).toBeVisible()
})

test('a deep link into the middle leads back one step', async ({ page }) => {
  const { customer } = await shop()
  await openAs(page, customer, '/pembayaran')
  await expect(page).toHaveURL('/scanPage')
  await page.goto('/pilihEpay')
  await expect(page).toHaveURL('/scanPage')
  await page.goto('/pilihLayanan')
  await expect(page).toHaveURL('/scanPage')
})

test('without a usable E-Pay the scanner says so and stays', async ({ page }) => {
  const { world } = await shop()
  const poor = await newCustomer()
  await openAs(page, poor, '/scanPage')
  await enterKode(page, world.mesin.kode)
  await expect(toastOf(page, 'Quota E-Money or Outlet Not Found')).toBeVisible()
  const modal = page.getByRole('dialog', { name: 'E-Pay tidak ditemukan' })
  await expect(modal).toBeVisible()
  await expect(page).toHaveURL('/scanPage')
  await modal.getByRole('button', { name: 'Top Up' }).click()
  await expect(page).toHaveURL('/topUpPage')

  await page.goto('/pilihEpay')
  await expect(page.getByText('E-Pay tidak ditemukan')).toBeVisible()
  await page.getByRole('button', { name: 'Top Up Epayment' }).click()
  await expect(page).toHaveURL('/topUpPage')
})

test('an unknown code and something that is no code', async ({ page }) => {
  const { customer } = await shop()
  await openAs(page, customer, '/scanPage')
  await enterKode(page, '00000000')
  await expect(toastOf(page, 'Mesin Not found')).toBeVisible()
  await page.getByLabel('Kode mesin', { exact: true }).fill('ABC')
  await page.getByRole('button', { name: 'Cari mesin' }).click()
  await expect(page.getByText('Kode terdiri dari 8 huruf dan angka')).toBeVisible()
  await expect(page).toHaveURL('/scanPage')
})

test('too low a balance is refused at the choice of the E-Pay', async ({ page }) => {
  const { world, customer } = await shop()
  await ops('layanan', { idoutlet: world.idoutlet, nama: 'Cuci Karpet', durasi: 3_600, harga: SALDO + 1_000 })
  await openAs(page, customer, '/scanPage')
  await enterKode(page, world.mesin.kode)
  await page.getByRole('button', { name: /Cuci Karpet/ }).click()
  await page.getByRole('button', { name: new RegExp(world.outlet) }).click()
  await expect(toastOf(page, 'saldo epay tidak cukup')).toBeVisible()
  await expect(page).toHaveURL('/pilihEpay')
})

test('two taps on the button pay once', async ({ page }) => {
  const { world, customer } = await shop()
  await toReceipt(page, world, customer)
  await page.getByRole('button', { name: 'Bayar & Nyalakan Mesin' }).dblclick()
  await expect(toastOf(page, 'Mesin Berhasil dinyalakan')).toBeVisible()
  expect(await saldo(customer)).toBe(SALDO - HARGA)
})

test('a machine that refuses gives the money back', async ({ page }) => {
  const { world, customer } = await shop()
  await toReceipt(page, world, customer)
  await fault(world.mesin.id, 'refuse')
  await pay(page)
  await expect(toastOf(page, 'mesin gagal dinyalakan, saldo dikembalikan')).toBeVisible()
  await expect(page).toHaveURL('/dashboard')
  await expect.poll(() => saldo(customer)).toBe(SALDO)
})

test('a machine that answers late is waited for on the dashboard', async ({ page }) => {
  const { world, customer } = await shop()
  await toReceipt(page, world, customer)
  await fault(world.mesin.id, 'late')
  await pay(page)
  await expect(page.getByText(/^mesin belum menjawab/)).toBeVisible({ timeout: 15_000 })
  await expect(page).toHaveURL('/dashboard')
  await expect(page.getByRole('timer')).toContainText(/0\d:\d\d/, { timeout: 20_000 })
  expect(await saldo(customer)).toBe(SALDO - HARGA)
})

test('a silent machine shows that it is waited for, the money held', async ({ page }) => {
  const { world, customer } = await shop()
  await toReceipt(page, world, customer)
  await fault(world.mesin.id, 'silent')
  await pay(page)
  await expect(page.getByText(/^mesin belum menjawab/)).toBeVisible({ timeout: 15_000 })
  await expect(page.getByText('Menunggu mesin', { exact: true })).toBeVisible()
  expect(await saldo(customer)).toBe(SALDO - HARGA)
})

test('somebody else was quicker, or the machine went away', async ({ page }) => {
  const { world, customer } = await shop()
  await toReceipt(page, world, customer)
  await fault(world.mesin.id, 'offline')
  await pay(page)
  await expect(toastOf(page, 'mesin sedang offline')).toBeVisible()
  await expect(page).toHaveURL('/dashboard')
  expect(await saldo(customer)).toBe(SALDO)
})

test('a busy machine shows its time left', async ({ page }) => {
  const { world, customer } = await shop()
  await toReceipt(page, world, customer)
  await pay(page)
  await expect(page).toHaveURL('/dashboard')
  await page.goto('/scanPage')
  await enterKode(page, world.mesin.kode)
  await expect(page.getByText('Mesin sedang dipakai')).toBeVisible()
  await expect(page.getByText(/^09:\d\d$/)).toBeVisible()
})

test('a busy machine is free again on the screen when its run is over', async ({ page }) => {
  const { world, customer } = await shop(15)
  await buy(await fundedAt(world), world)
  await openAs(page, customer, '/scanPage')
  await enterKode(page, world.mesin.kode)
  await expect(page.getByText('Mesin sedang dipakai')).toBeVisible()
  await expect(page.getByText('Pastikan nama ini sama dengan nama di mesin.')).toBeVisible({
    timeout: 30_000,
  })
})

test('ten services load, the next when the end is seen', async ({ page }) => {
  const { world, customer } = await shop()
  for (let i = 1; i <= 12; i++) {
    await ops('layanan', { idoutlet: world.idoutlet, nama: `Layanan ${i}`, durasi: 600, harga: 1_000 + i })
  }
  await openAs(page, customer, '/scanPage')
  const asked: number[] = []
  page.on('request', (request) => {
    if (request.url().endsWith('/get_layanan')) asked.push(request.postDataJSON().skip)
  })
  await enterKode(page, world.mesin.kode)
  await expect(page).toHaveURL('/pilihLayanan')
  const services = page.getByRole('listitem').filter({ hasText: 'menit' })
  await expect(services.first()).toBeVisible()
  await page.mouse.wheel(0, 4_000)
  await expect(services).toHaveCount(14)
  expect(new Set(asked)).toEqual(new Set([0, 10]))
  await page.getByLabel('Cari layanan').fill('Layanan 12')
  await expect(services).toHaveCount(1)
})

test('the answer to a payment is lost: it is asked again by the same number and charged once', async ({
  page,
  line,
}) => {
  const { world, customer } = await shop()
  await toReceipt(page, world, customer)
  const numbers = new Set<string>()
  page.on('request', (request) => {
    if (request.url().endsWith('/create_snap_transaksi')) numbers.add(request.postDataJSON().id)
  })
  line.loseAnswers()
  await pay(page)
  await expect.poll(() => saldo(customer)).toBe(SALDO - HARGA)
  line.cut()
  await expect(page.getByText('Memastikan pembayaran…')).toBeVisible()
  line.mend()
  await expect(toastOf(page, 'Mesin Berhasil dinyalakan')).toBeVisible({ timeout: 30_000 })
  await expect(page.getByRole('timer')).toBeVisible()
  expect(numbers.size).toBe(1)
  expect(await saldo(customer)).toBe(SALDO - HARGA)
})

test('a payment that never reached the server is sent again by the same number', async ({ page, line }) => {
  const { world, customer } = await shop()
  await toReceipt(page, world, customer)
  line.cut()
  await pay(page)
  await expect(page.getByText('Memastikan pembayaran…')).toBeVisible()
  expect(await saldo(customer)).toBe(SALDO)
  line.mend()
  await expect(toastOf(page, 'Mesin Berhasil dinyalakan')).toBeVisible({ timeout: 30_000 })
  expect(await saldo(customer)).toBe(SALDO - HARGA)
})

test('after a reload the receipt of an unsure payment keeps the balance before it', async ({ page }) => {
  const { world, customer } = await shop()
  await toReceipt(page, world, customer)
  await page.route('**/create_snap_transaksi', async (route) => {
    await route.fetch()
    await route.abort()
  })
  await pay(page)
  await expect(page.getByText('Memastikan pembayaran…')).toBeVisible()
  expect(await saldo(customer)).toBe(SALDO - HARGA)
  const known = page.waitForResponse('**/get_epayment/*')
  await page.reload()
  await known
  await expect(page.getByText('Memastikan pembayaran…')).toBeVisible()
  await expect(page.getByText('Rp 50.000')).toBeVisible()
  await expect(page.getByText('Rp 42.000')).toBeVisible()
  await page.unrouteAll({ behavior: 'ignoreErrors' })
  await expect(toastOf(page, 'Mesin Berhasil dinyalakan')).toBeVisible({ timeout: 60_000 })
})

test('a reload in the middle of paying ends in the truth', async ({ page, line }) => {
  const { world, customer } = await shop()
  await toReceipt(page, world, customer)
  line.loseAnswers()
  await pay(page)
  await expect.poll(() => saldo(customer)).toBe(SALDO - HARGA)
  line.cut()
  line.mend()
  await page.reload()
  // The answer may have come between the mended line and the reload; either way the running machine is what is seen.
  await expect(page.getByRole('timer')).toBeVisible({ timeout: 30_000 })
  expect(await saldo(customer)).toBe(SALDO - HARGA)
})

test('a changed price is told and costs nothing', async ({ page }) => {
  const { world, customer } = await shop()
  await toReceipt(page, world, customer)
  await page.route('**/create_snap_transaksi', async (route) => {
    const body = route.request().postDataJSON()
    await route.continue({ postData: JSON.stringify({ ...body, total: 1, grandtotal: 1 }) })
  })
  await pay(page)
  await expect(toastOf(page, 'harga layanan berubah')).toBeVisible()
  expect(await saldo(customer)).toBe(SALDO)
})

test('another machine of the owner can be paid with the same E-Pay', async ({ page }) => {
  const { world, customer } = await shop()
  const other = await newMesin(world.idoutlet, 'Mesin 08')
  await toReceipt(page, { ...world, mesin: other }, customer)
  await pay(page)
  await expect(toastOf(page, 'Mesin Berhasil dinyalakan')).toBeVisible()
  await expect(page.getByText('Mesin 08')).toBeVisible()
  const list = await scan<{ list_snap_transaksi: unknown[] }>(
    'dashboard/get_dashboard',
    undefined,
    customer.token,
  )
  expect(list.data.list_snap_transaksi).toHaveLength(1)
})
