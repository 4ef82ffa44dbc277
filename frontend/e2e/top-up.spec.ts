import type { Page } from '@playwright/test'
import { newCustomer, newWorld, ops } from './support/api.ts'
import { expectFineScreen } from './support/axe.ts'
import { readQr } from './support/qr.ts'
import { expect, openAs, test } from './support/test.ts'

const qr = (page: Page) => page.getByRole('img', { name: /Kode QR Anda/ })
const source = async (page: Page) => (await qr(page).getAttribute('src')) ?? ''

/** Leaves the app for another one, and comes back, as the page sees it. */
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
          // The system takes the lock away from a page that is not looked at.
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
