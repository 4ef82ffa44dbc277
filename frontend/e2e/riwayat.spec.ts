import type { Page } from '@playwright/test'
import {
  type Customer,
  fault,
  newCustomer,
  newMachine,
  newWorld,
  ops,
  topUp,
  type World,
} from './support/api.ts'
import { expectFineScreen } from './support/axe.ts'
import { buy } from './support/buy.ts'
import { fakeSocket } from './support/fake-socket.ts'
import { expect, openAs, test, toastOf } from './support/test.ts'

const PRICE = 8_000

async function shop(): Promise<{ world: World; customer: Customer }> {
  const world = await newWorld([{ nama: 'Cuci Kilat', durasi: 2_130, harga: PRICE }])
  const customer = await newCustomer('Siti Rahmawati')
  await topUp(customer, world.idoutlet, 100_000)
  return { world, customer }
}

const rows = (page: Page) => page.getByRole('main').getByRole('listitem')
const detail = (page: Page, title: string) => page.getByRole('dialog', { name: title, exact: true })

/** The value beside a label in a detail. */
const fact = (page: Page, label: string) =>
  page
    .getByRole('dialog')
    .locator('dl > div')
    .filter({ has: page.getByText(label, { exact: true }) })
    .getByRole('definition')

async function closeDetail(page: Page): Promise<void> {
  await page.getByRole('dialog').getByRole('button', { name: 'Tutup' }).click()
  await expect(page.getByRole('dialog')).toHaveCount(0)
  // The sheet takes its entry out of the history afterwards. A reload in between would be aborted.
  await expect.poll(() => page.evaluate(() => history.state.sheets)).toBeUndefined()
}

test('every kind of entry, with its sign and its detail', async ({ page }) => {
  const { world, customer } = await shop()
  const { receiptNumber } = await buy(customer, world)
  await ops('refund', { idtransaksi: receiptNumber, nominal: 1_500, alasan: 'noda' })
  await ops('refund', { idtransaksi: receiptNumber, nominal: 500, alasan: 'noda lagi' })
  await ops('hapus', { idtransaksi: receiptNumber, alasan: 'salah mesin' })
  await openAs(page, customer, '/riwayatPage')

  await expect(rows(page)).toHaveCount(5)
  await expect(rows(page).nth(0)).toContainText(/Penghapusan.*\+Rp 6\.000/)
  await expect(rows(page).nth(1)).toContainText(/Refund.*\+Rp 500/)
  await expect(rows(page).nth(2)).toContainText(/Refund.*\+Rp 1\.500/)
  await expect(rows(page).nth(3)).toContainText(/Transaksi.*-Rp 8\.000/)
  await expect(rows(page).nth(4)).toContainText(/Top-Up.*\+Rp 100\.000/)
  await expect(rows(page).nth(4)).toContainText(world.outlet)
  await expect(rows(page).nth(4)).toContainText(/\d\d\/\d\d\/\d{4} \d\d:\d\d/)
  const now = new Intl.DateTimeFormat('id-ID', { timeZone: 'Asia/Jakarta', month: 'long', year: 'numeric' })
  await expect(page.getByRole('heading', { level: 2 })).toHaveText([now.format(new Date())])
  // A separate band between entries, which is neither a heading nor an entry.
  await expect(page.getByText(/^(Hari ini|Kemarin)$/).first()).toBeVisible()

  await rows(page).nth(3).click()
  await expect(detail(page, 'Transaksi')).toBeVisible()
  await expect(fact(page, 'No Nota')).toHaveText(receiptNumber)
  await expect(fact(page, 'Mesin')).toHaveText('Mesin 07')
  await expect(fact(page, 'Layanan')).toHaveText('Cuci Kilat')
  await expect(fact(page, 'Durasi')).toHaveText('35 menit')
  await expect(fact(page, 'Outlet')).toHaveText(`${world.outlet} - Bandung`)
  await expect(fact(page, 'Harga Layanan')).toHaveText('-Rp 8.000')
  await closeDetail(page)

  await rows(page).nth(0).click()
  await expect(detail(page, 'Penghapusan')).toBeVisible()
  await expect(fact(page, 'Harga Layanan')).toHaveText('+Rp 8.000')
  await closeDetail(page)

  for (const [row, amount] of [
    [1, '+Rp 500'],
    [2, '+Rp 1.500'],
  ] as const) {
    await rows(page).nth(row).click()
    await expect(detail(page, 'Refund')).toBeVisible()
    await expect(fact(page, 'No Nota')).toHaveText(receiptNumber)
    await expect(fact(page, 'Penambahan Saldo')).toHaveText(amount)
    await closeDetail(page)
  }

  await rows(page).nth(4).click()
  await expect(detail(page, 'Top-Up')).toBeVisible()
  await expect(fact(page, 'Paket')).toHaveText('Top-Up')
  await expect(fact(page, 'Outlet')).toHaveText(`${world.outlet} - Bandung`)
  await expect(fact(page, 'Harga Paket')).toHaveText('Rp 100.000')
  await expect(fact(page, 'Saldo Akhir')).toHaveText('Rp 100.000')
  await expect(fact(page, 'Saldo Ditambahkan')).toHaveText('+Rp 100.000')
  await closeDetail(page)
})

test('the filter shows uses or top-ups alone', async ({ page }) => {
  const { world, customer } = await shop()
  await buy(customer, world)
  await openAs(page, customer, '/riwayatPage')
  await expect(rows(page)).toHaveCount(2)
  const filter = page.getByRole('combobox', { name: 'Jenis transaksi' })
  await expect(filter.getByRole('option')).toHaveText(['Semua transaksi', 'Penggunaan Mesin', 'Top-Up'])
  await filter.selectOption('Penggunaan Mesin')
  await expect(rows(page)).toHaveCount(1)
  await expect(rows(page)).toContainText('-Rp 8.000')
  await filter.selectOption('Top-Up')
  await expect(rows(page)).toContainText(['+Rp 100.000'])
  await filter.selectOption('Semua transaksi')
  await expect(rows(page)).toHaveCount(2)
})

test('a use that never started says so', async ({ page }) => {
  const { world, customer } = await shop()
  await fault(world.machine.id, 'refuse')
  expect((await buy(customer, world)).answer.status).toBe(409)
  await openAs(page, customer, '/riwayatPage')
  await expect(rows(page)).toHaveCount(3)
  await rows(page).nth(1).click()
  await expect(toastOf(page, 'Transaksi ini gagal dibuat')).toBeVisible()
  await expect(page.getByRole('dialog')).toHaveCount(0)
  await rows(page).nth(0).click()
  await expect(detail(page, 'Refund')).toBeVisible()
  await expect(fact(page, 'Penambahan Saldo')).toHaveText('+Rp 8.000')
})

test('an entry of another kind that is gone, and one that cannot be fetched', async ({ page }) => {
  const { customer } = await shop()
  await openAs(page, customer, '/riwayatPage')
  await page.route('**/epayment/get_epayment/*', (route) =>
    route.fulfill({ status: 404, json: { status: 404, message: 'tidak ada', data: null } }),
  )
  await rows(page).nth(0).click()
  await expect(toastOf(page, 'Transaksi ini tidak ditemukan')).toBeVisible()
  await page.unrouteAll()
  await page.route('**/epayment/get_epayment/*', (route) =>
    route.fulfill({ status: 429, json: { status: 429, message: 'Tunggu 7 detik lagi.', data: null } }),
  )
  await rows(page).nth(0).click()
  await expect(toastOf(page, 'Tunggu 7 detik lagi.')).toBeVisible()
  await expect(page.getByRole('dialog')).toHaveCount(0)
})

test('a top-up that was taken back, with its detail', async ({ page }) => {
  const { world, customer } = await shop()
  await withReversal(page, world)
  await openAs(page, customer, '/riwayatPage')
  await expect(rows(page)).toHaveCount(2)
  await expect(rows(page).nth(0)).toContainText(/Pembatalan Top-Up.*-Rp 100\.000/)
  await page.getByRole('combobox', { name: 'Jenis transaksi' }).selectOption('Top-Up')
  await expect(rows(page).nth(0)).toContainText(world.outlet)
  await expectFineScreen(page)

  await rows(page).nth(0).click()
  await expect(detail(page, 'Pembatalan Top-Up')).toBeVisible()
  await expect(fact(page, 'No Top-Up')).toHaveText('42')
  await expect(fact(page, 'Waktu Pembatalan')).toHaveText('20/11/2026 18:05')
  await expect(fact(page, 'Outlet')).toHaveText(`${world.outlet} - Bandung`)
  await expect(fact(page, 'Alasan')).toHaveText('salah jumlah')
  await expect(fact(page, 'Pengurangan Saldo')).toHaveText('-Rp 100.000')
  await expectFineScreen(page)
  await closeDetail(page)

  await page.unroute('**/get_detail_batal/*')
  await page.route('**/get_detail_batal/*', (route) =>
    route.fulfill({ status: 404, json: { status: 404, message: 'tidak ada', data: null } }),
  )
  await page.reload()
  await rows(page).nth(0).click()
  await expect(toastOf(page, 'Transaksi ini tidak ditemukan')).toBeVisible()
  await expect(page.getByRole('dialog')).toHaveCount(0)
})

/** From now on the server's list starts with a reversed top-up, which has a detail. */
async function withReversal(page: Page, { outlet }: World): Promise<void> {
  const date = '2026-11-20T11:05:00Z'
  const ofReversal = {
    ref_id: '42',
    ref_type: 'pembelian_emoney_batal',
    entri: 1,
    date,
    outlet,
    value: -100_000,
  }
  await page.route('**/list_history', async (route) => {
    const response = await route.fetch()
    const json = await response.json()
    json.data.history_data = [ofReversal, ...(json.data.history_data ?? [])]
    json.data.returned += 1
    await route.fulfill({ response, json })
  })
  await page.route('**/epayment/get_detail_batal/42', (route) =>
    route.fulfill({
      json: {
        status: 200,
        message: 'Success',
        data: {
          idpembelian_emoney: '42',
          waktu_batal: date,
          nominal_batal: 100_000,
          alasan: 'salah jumlah',
          outlet: { nama: outlet, kota: 'Bandung' },
        },
      },
    }),
  )
}

test('a balance that staff moved is in the list at once, and on the dashboard', async ({ page }) => {
  const { world, customer } = await shop()
  const socket = await fakeSocket(page)
  await openAs(page, customer, '/riwayatPage')
  await expect(rows(page)).toHaveCount(1)
  const { idcustomer } = await topUp(customer, world.idoutlet, 50_000)
  socket.emit('saldo', { idcustomer, saldo: 150_000, sebab: 'topup' })
  await expect(rows(page)).toHaveCount(2)
  await expect(rows(page).nth(0)).toContainText('+Rp 50.000')

  await page.getByRole('link', { name: 'Beranda' }).click()
  await expect(page.getByText('Rp 150.000')).toBeVisible()
  // The app shows the balance from the socket before it asks the server.
  await page.route('**/get_user_epayment_by_id_customer_global', (route) => route.abort())
  socket.emit('saldo', { idcustomer, saldo: 100_000, sebab: 'batal' })
  await expect(page.getByText('Rp 100.000')).toBeVisible()
  await page.unrouteAll({ behavior: 'ignoreErrors' })
})

test('the list goes on when its end is seen, steady while rows are added', async ({ page }) => {
  const { world, customer } = await shop()
  // The fake socket reports no rows: a notification of the new row would reload the list from its start.
  await fakeSocket(page)
  for (let i = 1; i <= 44; i++) await topUp(customer, world.idoutlet, 1_000 + i)
  const asked: { skip: number; limit: number; jenis: string; sampai?: string }[] = []
  page.on('request', (request) => {
    if (request.url().endsWith('/list_history')) asked.push(request.postDataJSON())
  })
  await openAs(page, customer, '/riwayatPage')
  await expect(rows(page)).toHaveCount(20)
  expect(asked[0]).toMatchObject({ skip: 0, limit: 20, jenis: '' })
  await topUp(customer, world.idoutlet, 77_777)
  await page.mouse.wheel(0, 20_000)
  await expect(rows(page)).toHaveCount(40)
  await page.mouse.wheel(0, 20_000)
  await expect(rows(page)).toHaveCount(45)
  expect(asked.map(({ skip }) => skip)).toEqual([0, 20, 40])
  expect(new Set(asked.slice(1).map(({ sampai }) => sampai)).size).toBe(1)
  await expect(page.getByText('+Rp 77.777')).toHaveCount(0)
  for (let i = 1; i <= 44; i++) {
    await expect(page.getByText(`+Rp ${(1_000 + i).toLocaleString('id-ID')}`, { exact: true })).toHaveCount(1)
  }

  await page.getByRole('button', { name: 'Segarkan riwayat' }).click()
  await expect(page.getByText('+Rp 77.777')).toHaveCount(1)
})

test('a page that fails waits for the customer; the list stays', async ({ page }) => {
  const { world, customer } = await shop()
  for (let i = 1; i <= 24; i++) await topUp(customer, world.idoutlet, 1_000 + i)
  await page.route('**/list_history', async (route) => {
    if (route.request().postDataJSON().skip === 0) return route.continue()
    return route.fulfill({ status: 400, json: { status: 400, message: 'Halaman ini rusak.', data: null } })
  })
  await openAs(page, customer, '/riwayatPage')
  await expect(rows(page)).toHaveCount(20)
  await page.mouse.wheel(0, 20_000)
  await expect(toastOf(page, 'Halaman ini rusak.')).toBeVisible()
  await expect(rows(page)).toHaveCount(20)
  await page.unrouteAll()
  await page.getByRole('button', { name: 'Coba lagi' }).click()
  await expect(rows(page)).toHaveCount(25)
})

test('nothing yet, and the way back', async ({ page }) => {
  await openAs(page, await newCustomer(), '/riwayatPage')
  await expect(page.getByText('Belum ada transaksi')).toBeVisible()
  await expectFineScreen(page)
  await page.getByRole('button', { name: 'Kembali' }).click()
  await expect(page).toHaveURL('/dashboard')
})

test('without network the list says so and comes back', async ({ page, line }) => {
  const { customer } = await shop()
  await openAs(page, customer, '/akun')
  await expect(page.getByText('Siti Rahmawati')).toBeVisible()
  await page.getByRole('link', { name: 'Riwayat' }).hover()
  line.cut()
  await page.getByRole('link', { name: 'Riwayat' }).click()
  const retry = page.getByRole('button', { name: /Coba lagi|Muat ulang/ })
  await expect(retry).toBeVisible({ timeout: 30_000 })
  line.mend()
  await retry.click()
  await expect(rows(page)).toHaveCount(1)
})

for (const { colorScheme, width } of [
  { colorScheme: 'light', width: 360 },
  { colorScheme: 'dark', width: 320 },
] as const) {
  test(`history and its details stand in ${colorScheme} at ${width} px`, async ({ page }) => {
    await page.emulateMedia({ colorScheme })
    await page.setViewportSize({ width, height: 700 })
    const { world, customer } = await shop()
    await topUp(customer, world.idoutlet, 19_900_000)
    await buy(customer, world, (await newMachine(world.idoutlet, 'Mesin Pengering Besar 12')).id)
    await openAs(page, customer, '/riwayatPage')
    await expect(rows(page)).toHaveCount(3)
    await expectFineScreen(page)
    await rows(page).nth(0).click()
    await expect(fact(page, 'No Nota')).toBeVisible()
    await expectFineScreen(page)
  })
}
