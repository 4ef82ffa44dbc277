import type { Page } from '@playwright/test'
import { balance, fault, newMachine } from './support/api.ts'
import { BALANCE, enterCode, PRICE, pay, shop, toReceipt } from './support/purchase.ts'
import { SAFE, watchForSafe } from './support/safe.ts'
import { expect, test, toastOf } from './support/test.ts'

test('two taps on the button pay once', async ({ page }) => {
  const { world, customer } = await shop()
  await toReceipt(page, world, customer)
  await page.getByRole('button', { name: 'Bayar & Nyalakan Mesin' }).dblclick()
  await expect(toastOf(page, 'Mesin Berhasil dinyalakan')).toBeVisible()
  expect(await balance(customer)).toBe(BALANCE - PRICE)
})

test('a machine that refuses gives the money back', async ({ page }) => {
  const { world, customer } = await shop()
  await toReceipt(page, world, customer)
  await fault(world.machine.id, 'refuse')
  await pay(page)
  await expect(toastOf(page, 'mesin gagal dinyalakan, saldo dikembalikan')).toBeVisible()
  await expect(page).toHaveURL('/dashboard')
  await expect.poll(() => balance(customer)).toBe(BALANCE)
})

test('a machine that answers late is waited for on the dashboard', async ({ page }) => {
  const { world, customer } = await shop()
  await toReceipt(page, world, customer)
  await fault(world.machine.id, 'late')
  await pay(page)
  await expect(page.getByText(/^mesin belum menjawab/)).toBeVisible({ timeout: 15_000 })
  await expect(page).toHaveURL('/dashboard')
  await expect(page.getByRole('timer')).toContainText(/0\d:\d\d/, { timeout: 20_000 })
  expect(await balance(customer)).toBe(BALANCE - PRICE)
})

test('a silent machine shows that it is waited for, the money held', async ({ page }) => {
  const { world, customer } = await shop()
  await toReceipt(page, world, customer)
  await fault(world.machine.id, 'silent')
  await pay(page)
  await expect(page.getByText(/^mesin belum menjawab/)).toBeVisible({ timeout: 15_000 })
  await expect(page.getByText('Menunggu mesin', { exact: true })).toBeVisible()
  expect(await balance(customer)).toBe(BALANCE - PRICE)
})

test('somebody else was quicker, or the machine went away', async ({ page }) => {
  const { world, customer } = await shop()
  await toReceipt(page, world, customer)
  await fault(world.machine.id, 'offline')
  await pay(page)
  await expect(toastOf(page, 'mesin sedang offline')).toBeVisible()
  await expect(page).toHaveURL('/dashboard')
  expect(await balance(customer)).toBe(BALANCE)
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
  await expect.poll(() => balance(customer)).toBe(BALANCE - PRICE)
  line.cut()
  await expect(page.getByText('Memastikan pembayaran…')).toBeVisible()
  line.mend()
  await expect(toastOf(page, 'Mesin Berhasil dinyalakan')).toBeVisible({ timeout: 30_000 })
  await expect(page.getByRole('timer')).toBeVisible()
  expect(numbers.size).toBe(1)
  expect(await balance(customer)).toBe(BALANCE - PRICE)
})

test('a payment that never reached the server is sent again by the same number', async ({ page, line }) => {
  const { world, customer } = await shop()
  await toReceipt(page, world, customer)
  line.cut()
  await pay(page)
  await expect(page.getByText('Memastikan pembayaran…')).toBeVisible()
  expect(await balance(customer)).toBe(BALANCE)
  line.mend()
  await expect(toastOf(page, 'Mesin Berhasil dinyalakan')).toBeVisible({ timeout: 30_000 })
  expect(await balance(customer)).toBe(BALANCE - PRICE)
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
  expect(await balance(customer)).toBe(BALANCE - PRICE)
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
  await expect.poll(() => balance(customer)).toBe(BALANCE - PRICE)
  line.cut()
  line.mend()
  await page.reload()
  // The answer may have come between the restored connection and the reload; in both cases the page shows the running machine.
  await expect(page.getByRole('timer')).toBeVisible({ timeout: 30_000 })
  expect(await balance(customer)).toBe(BALANCE - PRICE)
})

test('a changed price is told and costs nothing', async ({ page }) => {
  const { world, customer } = await shop()
  await toReceipt(page, world, customer)
  await page.route('**/create_snap_transaksi', async (route) => {
    const body = route.request().postDataJSON()
    await route.continue({ postData: JSON.stringify({ ...body, total: 1, grandtotal: 1 }) })
  })
  await pay(page)
  const dialog = page.getByRole('dialog', { name: 'Harga layanan berubah menjadi Rp 8.000' })
  await expect(dialog).toContainText('Pembayaran tadi tidak jadi.')
  expect(await balance(customer)).toBe(BALANCE)
})

/** The first request arrives and its answer is lost. Each further one gets the next of `answers`, then the server's answer. */
async function loseFirst(page: Page, ...answers: { status: number; message: string }[]): Promise<string[]> {
  const numbers: string[] = []
  await page.route('**/create_snap_transaksi', async (route) => {
    numbers.push(route.request().postDataJSON().id)
    const answer = answers[numbers.length - 2]
    if (answer) return route.fulfill({ status: answer.status, json: { ...answer, data: null } })
    if (numbers.length > 1) return route.continue()
    await route.fetch()
    await route.abort()
  })
  return numbers
}

test('after a lost answer nothing but a decision ends the asking, and no money is said to be safe', async ({
  page,
}) => {
  const { world, customer } = await shop()
  await toReceipt(page, world, customer)
  const shownSafe = await watchForSafe(page)
  const numbers = await loseFirst(
    page,
    { status: 429, message: 'tunggu 1 detik' },
    { status: 503, message: 'sistem sibuk' },
    { status: 504, message: 'mesin belum menjawab, saldo otomatis kembali bila mesin tidak menyala' },
  )
  await pay(page)
  await expect(page.getByText('Memastikan pembayaran…')).toBeVisible()
  await expect(page.getByRole('button', { name: 'Lihat di Beranda' })).toBeVisible()
  await expect(toastOf(page, 'Mesin Berhasil dinyalakan')).toBeVisible({ timeout: 30_000 })
  expect(numbers).toHaveLength(5)
  expect(new Set(numbers).size).toBe(1)
  expect(await balance(customer)).toBe(BALANCE - PRICE)
  expect(await shownSafe()).toBe(false)
})

test('a first refusal says that the money is safe', async ({ page }) => {
  const { world, customer } = await shop()
  await toReceipt(page, world, customer)
  await page.route('**/create_snap_transaksi', (route) =>
    route.fulfill({ status: 429, json: { status: 429, message: 'tunggu 9 detik', data: null } }),
  )
  await pay(page)
  await expect(toastOf(page, 'tunggu 9 detik')).toBeVisible()
  await expect(toastOf(page, SAFE)).toBeVisible()
  await expect(page).toHaveURL('/dashboard')
})

test('whoever leaves while it is asked finds the truth on the dashboard', async ({ page }) => {
  const { world, customer } = await shop()
  await toReceipt(page, world, customer)
  const busy = { status: 503, message: 'sistem sibuk' }
  const numbers = await loseFirst(page, ...Array.from({ length: 50 }, () => busy))
  await pay(page)
  await expect.poll(() => numbers.length).toBeGreaterThan(1)
  await page.getByRole('button', { name: 'Lihat di Beranda' }).click()
  await expect(page).toHaveURL('/dashboard')
  await expect(page.getByRole('timer')).toContainText(/(10:00|09:5\d)/)
  // Another attempt there: the app does not know that the first one took nothing, so it must not say that the money is safe.
  await page.unrouteAll({ behavior: 'ignoreErrors' })
  await page.route('**/create_snap_transaksi', (route) =>
    route.fulfill({ status: 409, json: { status: 409, message: 'mesin sedang digunakan', data: null } }),
  )
  await toReceipt(page, { ...world, machine: await newMachine(world.idoutlet, 'Mesin 08') }, customer)
  await pay(page)
  await expect(toastOf(page, 'mesin sedang digunakan')).toBeVisible()
  await expect(toastOf(page, 'Saldo terbaru tampil di Beranda.')).toBeVisible()
  await expect(toastOf(page, SAFE)).toHaveCount(0)
})

test('the late answer to one purchase leaves the next one alone', async ({ page }) => {
  const { world, customer } = await shop()
  const other = await newMachine(world.idoutlet, 'Mesin 08')
  await toReceipt(page, world, customer)
  let answer = () => {}
  const late = new Promise<void>((done) => {
    answer = done
  })
  let asked = 0
  await page.route('**/create_snap_transaksi', async (route) => {
    asked += 1
    if (asked === 1) return route.abort()
    if (asked > 2) return route.continue()
    const response = await route.fetch()
    await late
    await route.fulfill({ response })
  })
  await pay(page)
  await expect.poll(() => asked).toBe(2)
  await page.getByRole('button', { name: 'Lihat di Beranda' }).click()
  await page.getByRole('link', { name: 'Scan mesin' }).click()
  await enterCode(page, other.kode)
  await page.getByRole('button', { name: /Cuci Kilat/ }).click()
  await page.getByRole('button', { name: new RegExp(world.outlet) }).click()
  const number = await page.getByText(/^SLF\d{15}$/).textContent()
  answer()
  await expect(toastOf(page, 'Mesin Berhasil dinyalakan')).toBeVisible()
  await expect(toastOf(page, 'Mesin 07')).toBeVisible()
  await page.reload()
  await expect(page.getByText(number ?? '-')).toBeVisible()
  await pay(page)
  await expect(page.getByRole('timer')).toHaveCount(2)
  expect(await balance(customer)).toBe(BALANCE - 2 * PRICE)
})
