import type { Page } from '@playwright/test'
import { type Customer, newCustomer, newWorld, ops, topUp, type World } from './support/api.ts'
import { expectFineScreen } from './support/axe.ts'
import { fakeSocket } from './support/fake-socket.ts'
import { readQr } from './support/qr.ts'
import { expect, openAs, test, toastOf } from './support/test.ts'

const qr = (page: Page) => page.getByRole('img', { name: /Kode QR Anda/ })
const source = async (page: Page) => (await qr(page).getAttribute('src')) ?? ''

/** Switches to another app and back, as the page sees it. */
async function switchApps(page: Page): Promise<void> {
  for (const state of ['hidden', 'visible']) {
    await page.evaluate((now) => {
      Object.defineProperty(document, 'visibilityState', { value: now, configurable: true })
      document.dispatchEvent(new Event('visibilitychange', { bubbles: true }))
    }, state)
  }
}

test('the code tops up the customer who shows it', async ({ page }) => {
  const customer = await newCustomer()
  const { idoutlet, outlet } = await newWorld([])
  await openAs(page, customer)
  await page.getByRole('link', { name: 'Top Up' }).click()
  await expect(page).toHaveURL('/topUpPage')
  await expect(qr(page)).toBeVisible()
  const grouped = `0${customer.telp}`.replace(/(.{4})(?=.)/g, '$1 ')
  await expect(page.getByText(grouped, { exact: true })).toBeVisible()
  await expect(page.getByRole('heading', { name: 'Cara Top-Up' })).toBeVisible()
  await expect(page.getByRole('main').getByRole('listitem')).toHaveCount(4)
  await expectFineScreen(page)

  const text = await readQr(await source(page))
  const made = await ops<{ saldo_akhir: number }>('topup', { qr: text, idoutlet, nominal: 55_000 })
  expect(made.saldo_akhir).toBe(55_000)
  await page.getByRole('button', { name: 'Kembali' }).click()
  await expect(page).toHaveURL('/dashboard')
  await expect(page.getByText(outlet)).toBeVisible()
  await expect(page.getByText('Rp 55.000')).toBeVisible()
})

test('a new code every two minutes and on return', async ({ page }) => {
  await page.clock.install()
  const codes: string[] = []
  page.on('response', async (response) => {
    if (response.url().endsWith('/get_qrcode')) codes.push((await response.json()).data)
  })
  await openAs(page, await newCustomer(), '/topUpPage')
  await expect.poll(() => codes.length).toBe(1)
  await page.clock.runFor(119_000)
  expect(codes).toHaveLength(1)
  await page.clock.runFor(2_000)
  await expect.poll(() => codes.length).toBe(2)
  await expect.poll(() => source(page)).toBe(`data:image/png;base64,${codes[1]}`)
  await switchApps(page)
  await expect.poll(() => codes.length).toBe(3)
  await expect.poll(() => source(page)).toBe(`data:image/png;base64,${codes[2]}`)
})

test('a code past its five minutes is not shown', async ({ page }) => {
  await page.clock.install()
  await openAs(page, await newCustomer(), '/topUpPage')
  await expect(qr(page)).toBeVisible()
  await page.route('**/get_qrcode', (route) => route.abort())
  await page.clock.runFor(4 * 60_000)
  await expect(qr(page)).toBeVisible()
  await page.clock.runFor(70_000)
  await expect(qr(page)).toHaveCount(0)
  await page.clock.runFor(20_000)
  await expect(page.getByText('Kode sudah kedaluwarsa')).toBeVisible()
  await expectFineScreen(page)
  await page.unrouteAll()
  await page.getByRole('button', { name: 'Coba lagi' }).click()
  await expect(qr(page)).toBeVisible()
})

test('the code is on white in the dark, on a narrow phone', async ({ page }) => {
  await page.emulateMedia({ colorScheme: 'dark' })
  await page.setViewportSize({ width: 320, height: 640 })
  await openAs(page, await newCustomer(), '/topUpPage')
  await expect(qr(page)).toBeVisible()
  const ground = qr(page).locator('..')
  await expect(ground).toHaveCSS('background-color', 'rgb(255, 255, 255)')
  await expectFineScreen(page)
})

test('the screen is kept awake here, also after another app, and nowhere else', async ({ page }) => {
  await page.addInitScript(() => {
    const locks = { held: 0, asked: 0 }
    Object.assign(window, { locks })
    Object.defineProperty(navigator, 'wakeLock', {
      value: {
        async request() {
          locks.held += 1
          locks.asked += 1
          const lock = {
            released: false,
            async release() {
              if (!lock.released) locks.held -= 1
              lock.released = true
            },
          }
          // The system releases the wake lock of a page that is not visible.
          document.addEventListener('visibilitychange', () => {
            if (document.visibilityState === 'hidden') void lock.release()
          })
          return lock
        },
      },
    })
  })
  const held = () =>
    page.evaluate(() => (window as unknown as { locks: { held: number; asked: number } }).locks)
  await openAs(page, await newCustomer(), '/topUpPage')
  await expect.poll(async () => (await held()).held).toBe(1)
  await switchApps(page)
  await expect.poll(held).toMatchObject({ held: 1 })
  expect((await held()).asked).toBeGreaterThan(1)
  await page.getByRole('button', { name: 'Kembali' }).click()
  await expect.poll(async () => (await held()).held).toBe(0)
})

/** A customer with Rp 35.000 at an outlet. */
async function siti(): Promise<{ customer: Customer; world: World; idcustomer: number }> {
  const world = await newWorld([])
  const customer = await newCustomer('Siti Rahmawati')
  const { idcustomer } = await topUp(customer, world.idoutlet, 35_000)
  return { customer, world, idcustomer }
}

/** Resolves when the app has asked for the wallets: a later top-up arrives while the code is shown. */
const accountsAsked = (page: Page) =>
  page.waitForResponse((response) => response.url().endsWith('get_user_epayment_by_id_customer_global'))

/** Counts the vibrations of the page that is opened next. */
async function countVibrations(page: Page): Promise<() => Promise<number>> {
  await page.addInitScript(() => {
    const felt = { times: 0 }
    Object.assign(window, { felt })
    Object.defineProperty(navigator, 'vibrate', { value: () => Boolean(++felt.times) })
  })
  return () => page.evaluate(() => (window as unknown as { felt: { times: number } }).felt.times)
}

const paidIn = (page: Page) => page.getByRole('status').filter({ hasText: 'Saldo masuk' })

test('money that comes in takes the place of the code, as the socket tells', async ({ page }) => {
  const { customer, world, idcustomer } = await siti()
  const socket = await fakeSocket(page)
  // With less motion the phone does not vibrate.
  await page.emulateMedia({ reducedMotion: 'no-preference' })
  const vibrations = await countVibrations(page)
  await openAs(page, customer)
  await expect(page.getByText('Rp 35.000')).toBeVisible()
  const asked = accountsAsked(page)
  await page.getByRole('link', { name: 'Top Up' }).click()
  await asked
  await expect(qr(page)).toBeVisible()
  // The socket is the only source left.
  await page.route('**/get_user_epayment_by_id_customer_global', (route) => route.abort())

  await topUp(customer, world.idoutlet, 50_000)
  socket.emit('saldo', { idcustomer, saldo: '85000', sebab: 'topup' })
  socket.emit('saldo', { idcustomer, saldo: 85_000, sebab: 'topup' })
  await expect(paidIn(page)).toHaveText('Saldo masuk Rp 50.000Saldo sekarang Rp 85.000')
  await expect(qr(page)).toHaveCount(0)
  expect(await vibrations()).toBe(1)
  await expectFineScreen(page)

  // By keyboard: a tap would not show where the focus goes.
  await page.getByRole('button', { name: 'Isi lagi' }).focus()
  await page.keyboard.press('Enter')
  await expect(qr(page)).toBeVisible()
  await expect(paidIn(page)).toHaveCount(0)
  expect(await page.evaluate(() => document.activeElement?.tagName)).toBe('SECTION')

  await topUp(customer, world.idoutlet, 20_000)
  socket.emit('saldo', { idcustomer, saldo: 105_000, sebab: 'topup' })
  await expect(paidIn(page)).toHaveText('Saldo masuk Rp 20.000Saldo sekarang Rp 105.000')
  expect(await vibrations()).toBe(2)
  await page.unrouteAll({ behavior: 'ignoreErrors' })
  await page.getByRole('button', { name: 'Selesai' }).click()
  await expect(page).toHaveURL('/dashboard')
  await expect(page.getByText('Rp 105.000')).toBeVisible()
})

test('a void takes back what is shown, and says so', async ({ page }) => {
  const { customer, idcustomer } = await siti()
  const socket = await fakeSocket(page)
  const asked = accountsAsked(page)
  await openAs(page, customer, '/topUpPage')
  await asked
  await expect(qr(page)).toBeVisible()
  await page.route('**/get_user_epayment_by_id_customer_global', (route) => route.abort())
  socket.emit('saldo', { idcustomer, saldo: 43_000, sebab: 'refund' })
  socket.emit('saldo', { idcustomer, saldo: 543_000, sebab: 'topup' })
  await expect(paidIn(page)).toHaveText('Saldo masuk Rp 500.000Saldo sekarang Rp 543.000')
  socket.emit('saldo', { idcustomer, saldo: 43_000, sebab: 'batal' })
  await expect(qr(page)).toBeVisible()
  await expect(toastOf(page, 'Isi saldo dibatalkan kasir')).toBeVisible()
  await expect(toastOf(page, 'Saldo sekarang Rp 43.000')).toBeVisible()
  await expect(paidIn(page)).toHaveCount(0)
})

for (const way of ['after 15 s', 'on return'] as const) {
  test(`without a word of the socket the page looks again: ${way}`, async ({ page }) => {
    const { customer, world } = await siti()
    await fakeSocket(page)
    await page.clock.install()
    const asked = accountsAsked(page)
    await openAs(page, customer, '/topUpPage')
    await asked
    await expect(qr(page)).toBeVisible()
    await topUp(customer, world.idoutlet, 50_000)
    if (way === 'on return') await switchApps(page)
    else {
      await page.clock.runFor(10_000)
      await expect(paidIn(page)).toHaveCount(0)
      await page.clock.runFor(6_000)
    }
    await expect(paidIn(page)).toHaveText('Saldo masuk Rp 50.000Saldo sekarang Rp 85.000')
  })
}

for (const { colorScheme, width } of [
  { colorScheme: 'light', width: 360 },
  { colorScheme: 'dark', width: 320 },
] as const) {
  test(`the first and a large sum stand in ${colorScheme} at ${width} px`, async ({ page }) => {
    await page.emulateMedia({ colorScheme })
    await page.setViewportSize({ width, height: 780 })
    const customer = await newCustomer()
    const { idoutlet } = await newWorld([])
    const socket = await fakeSocket(page)
    const asked = accountsAsked(page)
    await openAs(page, customer, '/topUpPage')
    await asked
    await expect(qr(page)).toBeVisible()
    const { idcustomer } = await topUp(customer, idoutlet, 20_000_000)
    socket.emit('saldo', { idcustomer, saldo: 20_000_000, sebab: 'topup' })
    await expect(paidIn(page)).toHaveText('Saldo masuk Rp 20.000.000Saldo sekarang Rp 20.000.000')
    await expectFineScreen(page)
  })
}
