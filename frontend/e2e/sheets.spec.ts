import type { Locator, Page } from '@playwright/test'
import { newCustomer } from './support/api.ts'
import { pay, shop, toReceipt } from './support/purchase.ts'
import { expect, openAs, test } from './support/test.ts'
import { touch } from './support/touch.ts'

test.use({ contextOptions: { reducedMotion: 'no-preference' } })

const sheet = (page: Page) => page.getByRole('dialog')
const title = (page: Page) => sheet(page).getByRole('heading').first()
const top = async (page: Page) => (await title(page).boundingBox())?.y ?? Number.NaN
/** The remains of closed sheets. */
const ghosts = (page: Page) => page.locator('body > [inert]')
/** The screen's index in the app's history. */
const place = (page: Page) => page.evaluate(() => window.history.state?.idx as number)

/** Opens the sheet again until it can be pulled: the code for pulling is fetched when the phone is idle. */
async function openLoose(page: Page, button: Locator): Promise<void> {
  await expect(async () => {
    await button.click()
    await expect(title(page)).toBeVisible()
    try {
      await expect(title(page).locator('..')).toHaveCSS('touch-action', 'none', { timeout: 100 })
    } catch (still) {
      await sheet(page).getByRole('button', { name: 'Tutup' }).click()
      throw still
    }
  }).toPass()
  await still(page)
}

/** Waits until the sheet no longer moves. */
const still = (page: Page) =>
  expect
    .poll(async () => {
      const before = await top(page)
      await page.evaluate(
        () => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done))),
      )
      return (await top(page)) - before
    })
    .toBe(0)

const number = (page: Page) => page.getByRole('button', { name: /^Nomor WhatsApp/ })

test.describe('a sheet', () => {
  test.beforeEach(async ({ page }) => {
    await openAs(page, await newCustomer('Siti Rahmawati'), '/akun')
  })

  for (const [by, grip] of [
    ['its head', title],
    ['its text', (page: Page) => page.getByText(/daftar lagi dengan nomor/)],
  ] as const) {
    test(`closes when it is pulled down by ${by}, and the focus and the history are where they were`, async ({
      page,
    }) => {
      const before = await place(page)
      await openLoose(page, number(page))
      await expect.poll(() => place(page)).toBe(before + 1)
      const from = await top(page)
      const finger = await touch(page, grip(page))
      await finger.move({ y: 60 })
      await expect.poll(() => top(page)).toBeCloseTo(from + 60, 0)
      await finger.move({ y: 120 })
      await finger.lift()
      await expect(sheet(page)).toHaveCount(0)
      await expect(number(page)).toBeFocused()
      await expect.poll(() => place(page)).toBe(before)
      await expect(ghosts(page)).toHaveCount(0)
    })
  }

  test('springs back when it is pulled a little, and cannot be pulled up', async ({ page }) => {
    await openLoose(page, number(page))
    const from = await top(page)
    const finger = await touch(page, title(page))
    await finger.move({ y: 40 })
    await expect.poll(() => top(page)).toBeCloseTo(from + 40, 0)
    await finger.rest()
    await finger.lift()
    await expect.poll(() => top(page)).toBeCloseTo(from, 0)
    const again = await touch(page, title(page))
    await again.move({ y: -80 })
    await again.rest()
    expect(await top(page)).toBeCloseTo(from, 0)
    await again.lift()
    await expect(sheet(page)).toBeVisible()
  })

  test('closes when it is thrown', async ({ page }) => {
    await openLoose(page, number(page))
    // On a busy machine the finger's steps come late: that is a slow pull, after which the sheet springs back.
    await expect(async () => {
      const finger = await touch(page, title(page))
      await finger.fling({ y: 70 })
      await expect(sheet(page)).toHaveCount(0, { timeout: 2_000 })
    }).toPass()
  })

  test('that holds something typed asks before it closes, and springs back', async ({ page }) => {
    await openLoose(page, page.getByRole('button', { name: /^Ubah nama/ }))
    await page.getByLabel('Nama Akun').fill('Rina Wijaya')
    await still(page)
    const from = await top(page)
    const finger = await touch(page, title(page))
    await finger.move({ y: 200 })
    await finger.lift()
    const question = page.getByRole('dialog', { name: 'Buang yang sudah diisi?' })
    await expect(question).toBeVisible()
    await question.getByRole('button', { name: 'Lanjut mengisi' }).click()
    await expect(question).toHaveCount(0)
    await expect.poll(() => top(page)).toBeCloseTo(from, 0)
    await expect(page.getByLabel('Nama Akun')).toHaveValue('Rina Wijaya')
  })

  test('with more than the screen shows is scrolled first', async ({ page }) => {
    await page.setViewportSize({ width: 320, height: 400 })
    await openLoose(page, page.getByRole('button', { name: /^Ubah Kata Sandi/ }))
    await sheet(page)
      .locator('[data-panel]')
      .evaluate((panel) => panel.scrollTo(0, panel.scrollHeight))
    const scrolled = await top(page)
    const finger = await touch(page, sheet(page).getByText('Ulangi Kata Sandi Baru'))
    await finger.move({ y: 60 })
    await expect.poll(() => top(page)).toBeGreaterThan(scrolled)
    await finger.move({ y: 140 })
    await finger.lift()
    await expect(sheet(page)).toBeVisible()
  })

  test('goes at once where no motion is wanted', async ({ page }) => {
    await page.emulateMedia({ reducedMotion: 'reduce' })
    await openLoose(page, number(page))
    const left = await page.evaluate(async () => {
      document.querySelector<HTMLElement>('dialog [aria-label=Tutup]')?.click()
      await new Promise((done) =>
        requestAnimationFrame(() => requestAnimationFrame(() => requestAnimationFrame(done))),
      )
      return document.querySelectorAll('dialog, body > [inert]').length
    })
    expect(left).toBe(0)
  })

  test('in a wide window stands in its middle, within the app', async ({ page }) => {
    await page.setViewportSize({ width: 1280, height: 800 })
    await number(page).click()
    const panel = sheet(page).locator('[data-panel]')
    await expect(panel).toBeVisible()
    const boxes = await panel.evaluate((node) => {
      const app = document.getElementById('root')?.getBoundingClientRect()
      const { left, right, top, bottom } = node.getBoundingClientRect()
      return {
        left: left - (app?.left ?? 0),
        right: (app?.right ?? 0) - right,
        above: top,
        below: innerHeight - bottom,
      }
    })
    expect(boxes.left).toBeGreaterThan(0)
    expect(boxes.left).toBeCloseTo(boxes.right, 0)
    expect(boxes.above).toBeCloseTo(boxes.below, 0)
  })
})

test('what must be seen to its end gives way to no finger', async ({ page }) => {
  const { world, customer } = await shop()
  await openAs(page, customer, '/akun')
  // Ensures that the sheet could be pulled.
  await openLoose(page, number(page))
  await toReceipt(page, world, customer)
  await page.route('**/create_snap_transaksi', (route) => route.abort())
  await pay(page)
  await expect(page.getByRole('dialog', { name: 'Memastikan pembayaran…' })).toBeVisible()
  const finger = await touch(page, title(page))
  await finger.move({ y: 250 })
  await finger.lift()
  await expect(page.getByRole('dialog', { name: 'Memastikan pembayaran…' })).toBeVisible()
})
