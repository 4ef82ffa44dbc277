import { balance } from './support/api.ts'
import { BALANCE, PRICE, pay, shop, toReceipt } from './support/purchase.ts'
import { watchForSafe } from './support/safe.ts'
import { expect, telp, test, toastOf } from './support/test.ts'

test('a session that ends while a payment is unsure: after the login it is asked on, and no money is said to be safe', async ({
  page,
}) => {
  const { world, customer } = await shop()
  await toReceipt(page, world, customer)
  const shownSafe = await watchForSafe(page)
  const numbers: string[] = []
  await page.route('**/create_snap_transaksi', async (route) => {
    numbers.push(route.request().postDataJSON().id)
    if (numbers.length === 1) {
      await route.fetch()
      return route.abort()
    }
    const answer =
      numbers.length === 2
        ? { status: 401, message: 'sesi tidak sah' }
        : { status: 409, message: 'mesin sedang digunakan' }
    return route.fulfill({ status: answer.status, json: { ...answer, data: null } })
  })
  await pay(page)
  await expect(page).toHaveURL('/login')
  await telp(page).fill(customer.telp)
  await page.getByLabel('Kata Sandi', { exact: true }).fill(customer.password)
  await page.getByRole('button', { name: 'Masuk' }).click()
  await expect(toastOf(page, 'mesin sedang digunakan')).toBeVisible()
  await expect(toastOf(page, 'Saldo terbaru tampil di Beranda.')).toBeVisible()
  await expect(page).toHaveURL('/dashboard')
  await expect(page.getByRole('timer')).toBeVisible()
  expect(new Set(numbers).size).toBe(1)
  expect(numbers).toHaveLength(3)
  expect(await shownSafe()).toBe(false)
  expect(await balance(customer)).toBe(BALANCE - PRICE)
})

test('an app that is killed while it asks, asks on when it is started again', async ({ page, context }) => {
  const { world, customer } = await shop()
  await toReceipt(page, world, customer)
  const numbers = new Set<string>()
  await context.route('**/create_snap_transaksi', async (route) => {
    numbers.add(route.request().postDataJSON().id)
    await route.abort()
  })
  await pay(page)
  await expect(page.getByText('Memastikan pembayaran…')).toBeVisible()
  await page.close()
  // The session storage is empty, as in a new tab.
  const started = await context.newPage()
  await started.goto('/dashboard')
  await expect(started).toHaveURL('/pembayaran')
  await expect(started.getByText('Memastikan pembayaran…')).toBeVisible()
  await context.unrouteAll({ behavior: 'ignoreErrors' })
  context.on('request', (request) => {
    if (request.url().endsWith('/create_snap_transaksi')) numbers.add(request.postDataJSON().id)
  })
  await expect(toastOf(started, 'Mesin Berhasil dinyalakan')).toBeVisible({ timeout: 60_000 })
  await expect(started).toHaveURL('/dashboard')
  await started.reload()
  await expect(started.getByRole('timer')).toBeVisible()
  await expect(started).toHaveURL('/dashboard')
  expect(numbers.size).toBe(1)
  expect(await balance(customer)).toBe(BALANCE - PRICE)
})

test('a payment page whose file was not had beforehand comes by a reload of its own, with what was chosen', async ({
  page,
}) => {
  const { world, customer } = await shop()
  let asked = 0
  await page.route('**/assets/pembayaran-page-*.js', (route) => {
    asked += 1
    return asked === 1 ? route.abort() : route.continue()
  })
  await toReceipt(page, world, customer)
  expect(asked).toBeGreaterThan(1)
  await pay(page)
  await expect(toastOf(page, 'Mesin Berhasil dinyalakan')).toBeVisible()
})
