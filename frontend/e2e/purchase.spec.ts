import type { Page } from '@playwright/test'
import { balance, fault, newCustomer, newMachine, ops, scan } from './support/api.ts'
import { buy } from './support/buy.ts'
import { BALANCE, enterCode, fundedAt, PRICE, pay, shop, toReceipt } from './support/purchase.ts'
import { expect, openAs, test, toastOf } from './support/test.ts'

test.use({ contextOptions: { reducedMotion: 'no-preference' } })

test('a purchase by typed code, from the dashboard to the running machine', async ({ page }) => {
  const { world, customer } = await shop()
  await openAs(page, customer)
  await expect(page.getByRole('heading', { name: 'Siti Rahmawati', level: 1 })).toBeVisible()
  await expect(page.getByText('Rp 50.000')).toBeVisible()
  await page.getByRole('link', { name: 'Scan mesin' }).click()
  await expect(page.getByRole('heading', { name: 'Scan', exact: true })).toBeVisible()
  await expect(page.getByText('Petunjuk penggunaan')).toBeVisible()

  await enterCode(page, world.machine.kode.toLowerCase())
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
  // The message lies over the dashboard for a moment and disappears by itself.
  const paid = page.getByRole('status').filter({ hasText: 'Mesin Berhasil dinyalakan' })
  await expect(paid).toContainText('Cuci Kilat di Mesin 07')
  await expect(paid).toHaveCount(0)
  await expect(page.getByText('Sedang Berlangsung')).toBeVisible()
  await expect(page.getByRole('timer')).toContainText(/(10:00|09:5\d)/)
  await expect(page.getByText('Rp 42.000')).toBeVisible()
  expect(await balance(customer)).toBe(BALANCE - PRICE)
})

test('the dashboard opens with the machine that was just paid, not with what it last showed', async ({
  page,
}) => {
  const { world, customer } = await shop()
  await toReceipt(page, world, customer)
  const askedOn: string[] = []
  page.on('request', (request) => {
    if (request.url().endsWith('/get_dashboard')) askedOn.push(new URL(page.url()).pathname)
  })
  await pay(page)
  await expect(page).toHaveURL('/dashboard')
  await expect(page.getByRole('timer')).toBeVisible()
  expect(askedOn[0]).toBe('/pembayaran')
})

test('a dashboard that cannot be asked holds nobody up after paying', async ({ page }) => {
  const { world, customer } = await shop()
  await toReceipt(page, world, customer)
  await page.route('**/get_dashboard', () => {})
  await pay(page)
  await expect(toastOf(page, 'Mesin Berhasil dinyalakan')).toBeVisible()
  await expect(page).toHaveURL('/dashboard')
})

test('a purchase goes on after a reload in every step', async ({ page }) => {
  const { world, customer } = await shop()
  await openAs(page, customer, '/scanPage')
  await enterCode(page, world.machine.kode)
  await expect(page).toHaveURL('/pilihLayanan')
  await page.reload()
  await page.getByRole('button', { name: /Cuci Kilat/ }).click()
  await expect(page.getByText('1 E-Pay ditemukan')).toBeVisible()
  await page.reload()
  await page.getByRole('button', { name: new RegExp(world.outlet) }).click()
  const receiptNumber = await page.getByText(/^SLF\d{15}$/).textContent()
  await page.reload()
  await expect(page.getByText(receiptNumber ?? 'no receipt number')).toBeVisible()
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
  await enterCode(page, world.machine.kode)
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
  await enterCode(page, '00000000')
  await expect(toastOf(page, 'Mesin Not found')).toBeVisible()
  await page.getByLabel('Kode mesin', { exact: true }).fill('ABC')
  await page.getByRole('button', { name: 'Cari mesin' }).click()
  await expect(page.getByText('Kode terdiri dari 8 huruf dan angka')).toBeVisible()
  await expect(page).toHaveURL('/scanPage')
})

test('too low a balance is refused at the choice of the E-Pay', async ({ page }) => {
  const { world, customer } = await shop()
  await ops('layanan', {
    idoutlet: world.idoutlet,
    nama: 'Cuci Karpet',
    durasi: 3_600,
    harga: BALANCE + 1_000,
  })
  await openAs(page, customer, '/scanPage')
  await enterCode(page, world.machine.kode)
  await page.getByRole('button', { name: /Cuci Karpet/ }).click()
  await page.getByRole('button', { name: new RegExp(world.outlet) }).click()
  await expect(toastOf(page, 'saldo epay tidak cukup')).toBeVisible()
  await expect(page).toHaveURL('/pilihEpay')
})

const service = (page: Page) => page.getByRole('button', { name: /Cuci Kilat/ })

test('a busy machine shows its time left and cannot be bought', async ({ page }) => {
  const { world, customer } = await shop()
  await toReceipt(page, world, customer)
  await pay(page)
  await expect(page).toHaveURL('/dashboard')
  await page.goto('/scanPage')
  await enterCode(page, world.machine.kode)
  await expect(page.getByText('Sedang Anda pakai')).toBeVisible()
  await expect(page.getByRole('timer')).toContainText(/sisa 09:\d\d$/)
  await expect(service(page)).toBeDisabled()
  // The countdown is live: the next second is another text.
  const shown = await page.getByRole('timer').textContent()
  await expect(page.getByRole('timer')).not.toHaveText(shown ?? '')
})

test('a busy machine is free again on the screen when its run is over, and can be bought', async ({
  page,
}) => {
  const { world, customer } = await shop(15)
  await buy(await fundedAt(world), world)
  await openAs(page, customer, '/scanPage')
  await enterCode(page, world.machine.kode)
  await expect(page.getByText('Sedang digunakan')).toBeVisible()
  await expect(service(page)).toBeDisabled()
  await expect(page.getByText('Pastikan nama ini sama dengan nama di mesin.')).toBeVisible({
    timeout: 30_000,
  })
  await expect(page.getByText('Mesin sudah bebas')).toBeVisible()
  await service(page).click()
  await page.getByRole('button', { name: new RegExp(world.outlet) }).click()
  await pay(page)
  await expect(toastOf(page, 'Mesin Berhasil dinyalakan')).toBeVisible()
})

/**
 * Resolves when the page has received the machine's state over realtime. Polling and websocket both count, because the upgrade from one
 * to the other has no fixed time.
 */
function machineState(page: Page): Promise<void> {
  const isState = (text: string) => text.includes('server_time')
  return new Promise((resolve) => {
    page.on('websocket', (socket) => {
      socket.on('framereceived', ({ payload }) => {
        if (isState(String(payload))) resolve()
      })
    })
    page.on('response', async (response) => {
      if (!response.url().includes('transport=polling')) return
      // Leaving a page discards the bodies of its answers.
      if (isState(await response.text().catch(() => ''))) resolve()
    })
  })
}

test('a machine that is taken meanwhile says so at once', async ({ page }) => {
  const { world, customer } = await shop()
  await openAs(page, customer, '/scanPage')
  await enterCode(page, world.machine.kode)
  await expect(service(page)).toBeEnabled()
  const watched = machineState(page)
  await page.reload()
  await watched
  await buy(await fundedAt(world), world)
  await expect(page.getByText('Sedang digunakan')).toBeVisible()
  await expect(page.getByRole('timer')).toContainText(/sisa (10:00|09:\d\d)$/)
  await expect(service(page)).toBeDisabled()
})

test('a machine that is offline says so, and can be bought when it is back', async ({ page }) => {
  const { world, customer } = await shop()
  await fault(world.machine.id, 'offline')
  await openAs(page, customer, '/scanPage')
  await enterCode(page, world.machine.kode)
  await expect(page.getByText('Mesin sedang offline')).toBeVisible()
  await expect(service(page)).toBeDisabled()
  await fault(world.machine.id, 'ok')
  await expect(service(page)).toBeEnabled()
  await expect(page.getByText('Mesin sedang offline')).toHaveCount(0)
  await service(page).click()
  await page.getByRole('button', { name: new RegExp(world.outlet) }).click()
  await pay(page)
  await expect(toastOf(page, 'Mesin Berhasil dinyalakan')).toBeVisible()
})

test('a machine that is gone has one way on', async ({ page }) => {
  const { world, customer } = await shop()
  await fault(world.machine.id, 'offline')
  await openAs(page, customer, '/scanPage')
  await enterCode(page, world.machine.kode)
  const another = page.getByRole('button', { name: 'Pindai mesin lain' })
  await expect(another).toBeVisible()
  await page.route('**/get_layanan', (route) =>
    route.fulfill({ status: 404, json: { status: 404, message: 'Mesin Not found', data: null } }),
  )
  await page.reload()
  await expect(page.getByRole('button', { name: 'Pindai lagi' })).toBeVisible()
  await expect(another).toHaveCount(0)
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
  await enterCode(page, world.machine.kode)
  await expect(page).toHaveURL('/pilihLayanan')
  const services = page.getByRole('listitem').filter({ hasText: 'menit' })
  await expect(services.first()).toBeVisible()
  await page.mouse.wheel(0, 4_000)
  await expect(services).toHaveCount(14)
  expect(new Set(asked)).toEqual(new Set([0, 10]))
  await page.getByLabel('Cari layanan').fill('Layanan 12')
  await expect(services).toHaveCount(1)
})

test('another machine of the owner can be paid with the same E-Pay', async ({ page }) => {
  const { world, customer } = await shop()
  const other = await newMachine(world.idoutlet, 'Mesin 08')
  await toReceipt(page, { ...world, machine: other }, customer)
  await pay(page)
  await expect(toastOf(page, 'Mesin Berhasil dinyalakan')).toBeVisible()
  await expect(page.getByText('Mesin 08', { exact: true })).toBeVisible()
  const list = await scan<{ list_snap_transaksi: unknown[] }>(
    'dashboard/get_dashboard',
    undefined,
    customer.token,
  )
  expect(list.data.list_snap_transaksi).toHaveLength(1)
})
