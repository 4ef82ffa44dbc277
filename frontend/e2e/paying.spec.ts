import { fault, saldo } from './support/api.ts'
import { HARGA, pay, SALDO, shop, toReceipt } from './support/purchase.ts'
import { expect, test, toastOf } from './support/test.ts'

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
