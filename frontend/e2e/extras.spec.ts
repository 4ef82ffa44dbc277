import { fault, newCustomer, newMachine, newWorld, ops, topUp } from './support/api.ts'
import { buy } from './support/buy.ts'
import { enterCode } from './support/purchase.ts'
import { expect, openAs, test } from './support/test.ts'

const LONG = { nama: 'Cuci Reguler', durasi: 2_100, harga: 15_000 }
const SHORT = { nama: 'Bilas', durasi: 2, harga: 5_000 }

async function shop(...services: (typeof LONG)[]) {
  const world = await newWorld(services)
  const customer = await newCustomer('Siti Rahmawati')
  await topUp(customer, world.idoutlet, 100_000)
  return { world, customer }
}

test('what is over stays until it is fetched', async ({ page }) => {
  const { world, customer } = await shop(SHORT)
  await openAs(page, customer)
  await expect(page.getByText('Selamat datang di Nyala')).toBeVisible()
  await buy(customer, world)
  await page.reload()
  await expect(page.getByText('Selesai', { exact: true })).toBeVisible({ timeout: 20_000 })
  await expect(page.getByRole('heading', { name: 'Menunggu diambil' })).toBeVisible({ timeout: 20_000 })
  await expect(page.getByText(/sejak \d\d\.\d\d/).first()).toBeVisible()
  const fetched = page.getByRole('button', { name: 'Sudah saya ambil' })
  await fetched.click()
  await expect(page.getByText('Menunggu diambil')).toHaveCount(0)
  await page.reload()
  await expect(page.getByText('Selamat datang di Nyala')).toBeVisible()
  await expect(fetched).toHaveCount(0)
})

test('the last service once more: after the scan straight to the payment, at the present price', async ({
  page,
}) => {
  const { world, customer } = await shop(SHORT, LONG)
  await buy(customer, world)
  await openAs(page, customer)
  await page.getByRole('button', { name: 'Sudah saya ambil' }).click({ timeout: 20_000 })
  const again = page.getByRole('link', { name: /Cuci lagi: Bilas/ })
  await expect(again).toContainText('Harga sekarang Rp 5.000')
  await again.click()
  await expect(page).toHaveURL('/scanPage')
  await enterCode(page, world.machine.kode)
  await expect(page).toHaveURL('/pembayaran')
  await expect(page.getByText('Bilas di Mesin 07')).toBeVisible()
  // The next scan from the bottom bar is an ordinary one.
  await page.goto('/scanPage')
  await enterCode(page, world.machine.kode)
  await expect(page).toHaveURL('/pilihLayanan')
})

test('a machine that cannot be used leads on to another one, for the same service', async ({ page }) => {
  const { world, customer } = await shop(SHORT, LONG)
  const closed = await newMachine(world.idoutlet, 'Cuci 08')
  await fault(closed.id, 'offline')
  await buy(customer, world)
  await openAs(page, customer)
  await page.getByRole('button', { name: 'Sudah saya ambil' }).click({ timeout: 20_000 })
  await page.getByRole('link', { name: /Cuci lagi: Bilas/ }).click()
  const wanted = page.getByRole('main').getByText('Cuci lagi: Bilas')
  await expect(page).toHaveURL('/scanPage')
  await expect(wanted).toBeVisible()
  await enterCode(page, closed.kode)
  await expect(page.getByText('Mesin sedang offline')).toBeVisible()
  await page.getByRole('button', { name: 'Pindai mesin lain' }).click()
  await expect(page).toHaveURL('/scanPage')
  await expect(wanted).toBeVisible()
  await enterCode(page, world.machine.kode)
  await expect(page).toHaveURL('/pembayaran')
  await expect(page.getByText('Bilas di Mesin 07')).toBeVisible()
})

test('a last service that the outlet has no more leads to the others, and says so', async ({ page }) => {
  const { world, customer } = await shop(SHORT, LONG)
  await buy(customer, world)
  await page.route('**/transaksi/terakhir', async (route) => {
    const response = await route.fetch()
    const answer = await response.json()
    // The server has no endpoint that ends a service, so the answer is changed to name a row that does not exist.
    await route.fulfill({ response, json: { ...answer, data: { ...answer.data, idlayanan: 2 ** 40 } } })
  })
  await openAs(page, customer)
  await page.getByRole('button', { name: 'Sudah saya ambil' }).click({ timeout: 20_000 })
  await page.getByRole('link', { name: /Cuci lagi: Bilas/ }).click()
  await enterCode(page, world.machine.kode)
  await expect(page).toHaveURL('/pilihLayanan')
  await expect(page.getByText('Layanan ini sudah tidak ada')).toBeVisible()
  await expect(page.getByText('Pilih layanan lain.')).toBeVisible()
  await expect(page.getByRole('button', { name: /Cuci Reguler/ })).toBeEnabled()
})

test('at another outlet the last service is not looked for', async ({ page }) => {
  const { world, customer } = await shop(SHORT)
  await buy(customer, world)
  const place = { kota: 'Bandung', latitude: -6.9, longitude: 107.6 }
  const { idoutlet } = await ops<{ idoutlet: number }>('outlet', {
    idowner: world.idowner,
    nama: 'Melati Dua',
    ...place,
  })
  await ops('layanan', { idoutlet, nama: 'Kering', durasi: 600, harga: 7_000 })
  const machine = await newMachine(idoutlet, 'Pengering 01')
  await openAs(page, customer)
  await page.getByRole('button', { name: 'Sudah saya ambil' }).click({ timeout: 20_000 })
  await page.getByRole('link', { name: /Cuci lagi: Bilas/ }).click()
  await enterCode(page, machine.kode)
  await expect(page).toHaveURL('/pilihLayanan')
  await expect(page.getByRole('button', { name: /Kering/ })).toBeVisible()
  await expect(page.getByText('Layanan ini sudah tidak ada')).toHaveCount(0)
})

test('a receipt is shared as a picture, as text where pictures are not taken, else by the clipboard', async ({
  page,
}) => {
  const { world, customer } = await shop(LONG)
  const { receiptNumber } = await buy(customer, world)
  await page.context().grantPermissions(['clipboard-read', 'clipboard-write'])
  await page.addInitScript(() => {
    const w = window as unknown as { takes: string[]; shared: ShareData[] }
    w.takes = ['files', 'text']
    w.shared = []
    Object.assign(navigator, {
      canShare: (data: ShareData) => Object.keys(data).some((key) => w.takes.includes(key)),
      share: async (data: ShareData) => void w.shared.push(data),
    })
  })
  await openAs(page, customer, '/riwayatPage')
  await page.getByRole('main').getByRole('listitem').filter({ hasText: '-Rp 15.000' }).click()
  const share = page.getByRole('button', { name: 'Bagikan struk' })
  await expect(share).toBeVisible()
  const shared = () =>
    page.evaluate(async () => {
      const [data] = (window as unknown as { shared: ShareData[] }).shared.splice(0)
      const [file] = data?.files ?? []
      const bitmap = file && (await createImageBitmap(file))
      return { text: data?.text, file: file && { name: file.name, type: file.type, width: bitmap?.width } }
    })
  await expect(async () => {
    await share.click()
    expect((await shared()).file).toEqual({ name: 'struk-nyala.png', type: 'image/png', width: 720 })
  }).toPass()

  await page.evaluate(() => {
    ;(window as unknown as { takes: string[] }).takes = ['text']
  })
  await share.click()
  const { text } = await shared()
  expect(text).toContain(`No Nota: ${receiptNumber}`)
  expect(text).not.toContain(customer.telp)

  await page.evaluate(() => {
    ;(window as unknown as { takes: string[] }).takes = []
  })
  await share.click()
  await expect(page.getByText('Struk disalin')).toBeVisible()
  expect(await page.evaluate(() => navigator.clipboard.readText())).toBe(text)
})
