import type { BrowserContext, Page } from '@playwright/test'
import { type Customer, newCustomer, newTelp, topUp } from './support/api.ts'
import { shop, toReceipt } from './support/purchase.ts'
import { CUSTOMER_PATHS, expect, openAs, test, typeOtp } from './support/test.ts'

/** A title of two lines on a small phone, and two more lines of explanation. */
const TITLE = 'Mesin sedang disiapkan untuk pelanggan lain di outlet ini'
const LINES = ['Server lama menjawab, koneksi sedang lambat.', 'Coba lagi sebentar lagi, atau hubungi kasir.']

/** Opens a screen with a long message on it, as a reload does. */
async function openWithMessage(page: Page, path: string): Promise<void> {
  await page.evaluate(
    ([title, body]) =>
      sessionStorage.setItem('nyala.pesan', JSON.stringify({ jenis: 'gagal', judul: title, isi: body })),
    [TITLE, LINES] as const,
  )
  await page.goto(path)
  await expect(page.getByText(TITLE)).toBeVisible()
  await expect(page.getByRole('heading', { level: 1 })).toBeVisible()
}

/**
 * Opens a sheet by keyboard: the message may lie over the button for a while. A key press does not wait for the data that enables the
 * button.
 */
async function openSheet(page: Page, name: string | RegExp): Promise<void> {
  const button = page.getByRole('button', { name }).first()
  await expect(button).toBeEnabled()
  await button.press('Enter')
}

/** The controls and titles that a message covers, once it has come to rest. */
async function covered(page: Page): Promise<string[]> {
  return page.evaluate(async () => {
    const frame = () => new Promise((done) => requestAnimationFrame(done))
    const messages = () =>
      [...document.querySelectorAll('[data-sonner-toast]')].map((node) => node.getBoundingClientRect())
    // Waits until nothing has moved for some frames. A message that leaves stays in the page for a while, invisible.
    for (let still = 0, before = ''; still < 10; ) {
      await frame()
      // A footer comes with its data, and the message makes room for it some frames later.
      const now = JSON.stringify([
        messages(),
        ...['dialog[open] h2', 'footer'].map((one) => document.querySelector(one)?.getBoundingClientRect()),
      ])
      const leaving = document.querySelector('[data-sonner-toast][data-removed=true]')
      still = now === before && !leaving ? still + 1 : 0
      before = now
    }
    // Below a sheet nothing can be pressed.
    const sheet = document.querySelector('dialog[open]')
    const banner = [...document.querySelectorAll('[role=status]')].filter(({ textContent }) =>
      textContent?.startsWith('Tidak ada koneksi internet'),
    )
    const kept = sheet
      ? [...sheet.querySelectorAll('h2, button, a, input')]
      : [...document.querySelectorAll('h1, main > header button, nav, nav a, footer, input:focus'), ...banner]
    const hits: string[] = messages().length === 0 ? ['there is no message'] : []
    for (const message of messages()) {
      if (message.top < 0 || message.bottom > innerHeight) hits.push('a message sticks out')
      for (const node of kept) {
        const box = node.getBoundingClientRect()
        // A sheet hides what is scrolled out of it.
        const panel = node.closest('[data-panel]')?.getBoundingClientRect()
        const top = Math.max(box.top, panel?.top ?? 0)
        const bottom = Math.min(box.bottom, panel?.bottom ?? innerHeight)
        if (box.width <= 1 || bottom <= top) continue
        const apart =
          message.bottom <= top ||
          bottom <= message.top ||
          message.right <= box.left ||
          box.right <= message.left
        if (!apart) hits.push(`${location.pathname}: ${node.outerHTML.slice(0, 80)}`)
      }
    }
    return hits
  })
}

/** Checks with and without the banner, at the top and scrolled down and back. */
async function expectInSight(page: Page, context: BrowserContext): Promise<void> {
  expect(await covered(page)).toEqual([])
  await page.evaluate(() => scrollTo(0, 40))
  expect(await covered(page)).toEqual([])
  await context.setOffline(true)
  await expect(page.getByText('Tidak ada koneksi internet', { exact: true })).toBeVisible()
  expect(await covered(page)).toEqual([])
  await page.evaluate(() => scrollTo(0, 0))
  expect(await covered(page)).toEqual([])
  await context.setOffline(false)
}

async function notch(page: Page, context: BrowserContext): Promise<void> {
  const phone = await context.newCDPSession(page)
  await phone.send('Emulation.setSafeAreaInsetsOverride', { insets: { top: 47, bottom: 34 } })
}

const sizes = [
  { width: 320, height: 568, notched: false },
  { width: 390, height: 844, notched: true },
  { width: 1280, height: 800, notched: false },
]

for (const { width, height, notched } of sizes) {
  test.describe(`a long message at ${width}×${height} covers nothing that must be seen or pressed`, () => {
    test.use({ viewport: { width, height } })
    test.beforeEach(async ({ page, context }) => {
      if (notched) await notch(page, context)
    })

    test('before the login', async ({ page, context }) => {
      const number = newTelp()
      await page.goto('/register')
      await page.getByLabel('Nomor WhatsApp').fill(number)
      await page.getByLabel('Kata Sandi', { exact: true }).fill('Rahasia123')
      await page.getByLabel('Ulangi Kata Sandi').fill('Rahasia123')
      await page.getByLabel('Nama Akun').fill('Rina Wijaya')
      await page.getByRole('button', { name: 'Daftar' }).click()
      await expect(page).toHaveURL(`/otp/${number}`)
      await page.goto(`/forgotPasswordOtp/${number}`)
      await typeOtp(page, '123456')
      await page.getByRole('button', { name: 'Simpan' }).click()
      await expect(page).toHaveURL(`/changePassword/${number}`)
      for (const path of [
        '/',
        '/login',
        '/register',
        `/otp/${number}`,
        '/forgotPasswordTelp',
        `/forgotPasswordOtp/${number}`,
        `/changePassword/${number}`,
      ]) {
        await openWithMessage(page, path)
        await expect(page).toHaveURL(path)
        await expectInSight(page, context)
      }
    })

    test('on every screen of a customer', async ({ page, context }) => {
      const { world, customer } = await shop()
      await toReceipt(page, world, customer)
      for (const path of CUSTOMER_PATHS) {
        await openWithMessage(page, path)
        await expect(page).toHaveURL(path)
        await expectInSight(page, context)
      }
    })

    test('with a sheet open', async ({ page }) => {
      const { world, customer } = await shop()
      await topUp(customer, world.idoutlet, 10_000)
      await openAs(page, customer)
      for (const [path, name] of sheets(customer)) {
        await openWithMessage(page, path)
        await openSheet(page, name)
        await expect(page.getByRole('dialog')).toBeVisible()
        expect(await covered(page)).toEqual([])
      }
    })
  })
}

const sheets = ({ nama }: Customer): [string, string | RegExp][] => [
  ['/dashboard', /Info outlet/],
  ['/riwayatPage', /Top-Up/],
  ['/akun', /^Nomor WhatsApp/],
  ['/akun', `Ubah nama ${nama}`],
  ['/akun', /^Ubah Kata Sandi/],
  ['/scanPage', 'Ketik kode'],
]

/** What lies outside the part of the screen that the keyboard leaves. */
const outside = (page: Page, selector: string, seen: { top: number; bottom: number }) =>
  expect.poll(() =>
    page.locator(selector).evaluateAll(
      (nodes, { top, bottom }) =>
        nodes
          .map((node) => ({ box: node.getBoundingClientRect(), node }))
          .filter(({ box }) => box.top < top || box.bottom > bottom)
          .map(({ node }) => node.outerHTML.slice(0, 80)),
      seen,
    ),
  )

/** Safari's keyboard: it makes no page smaller, and moves what is seen of it. */
async function keyboard(page: Page, seen: { top: number; bottom: number }): Promise<void> {
  await page.evaluate(({ top, bottom }) => {
    const view = window.visualViewport as VisualViewport
    const value = (value: number) => ({ value, configurable: true })
    Object.defineProperties(view, { offsetTop: value(top), height: value(bottom - top) })
    view.dispatchEvent(new Event('resize'))
  }, seen)
}

test.describe('while a field is in use, on the smallest phone', () => {
  test.use({ viewport: { width: 320, height: 568 } })

  test('it is in sight above a message that comes', async ({ page }) => {
    await page.route('**/auth/login', (route) =>
      route.fulfill({ status: 401, json: { status: 401, message: 'password is incorrect', data: null } }),
    )
    await page.goto('/login')
    await page.getByLabel('Nomor WhatsApp').fill(newTelp())
    const field = page.getByLabel('Kata Sandi', { exact: true })
    await field.fill('Rahasia123')
    await field.press('Enter')
    const message = page.locator('[data-sonner-toast]')
    // A message under the mouse stays. The form needs no room for one that has gone, and moves down.
    await message.hover()
    expect(await covered(page)).toEqual([])
    // The message speaks of the link.
    const { y } = (await message.boundingBox()) ?? { y: 0 }
    await outside(page, 'input:focus, [href="/forgotPasswordTelp"]', { top: 0, bottom: y }).toEqual([])
    await openWithMessage(page, '/register')
    for (const name of ['Nama Akun', 'Nomor WhatsApp', 'Ulangi Kata Sandi']) {
      await page.getByLabel(name).focus()
      expect(await covered(page)).toEqual([])
      await outside(page, 'input:focus', { top: 0, bottom: 568 }).toEqual([])
    }
  })

  test('a keyboard over the page covers no message', async ({ page }) => {
    const customer = await newCustomer()
    await openAs(page, customer)
    await openWithMessage(page, '/akun')
    await keyboard(page, { top: 0, bottom: 320 })
    await outside(page, '[data-sonner-toast]', { top: 0, bottom: 320 }).toEqual([])
    await openSheet(page, `Ubah nama ${customer.nama}`)
    for (const seen of [
      { top: 0, bottom: 320 },
      { top: 200, bottom: 520 },
    ]) {
      await keyboard(page, seen)
      expect(await covered(page)).toEqual([])
      await outside(page, '[data-panel], [data-sonner-toast]', seen).toEqual([])
    }
  })
})

test('several messages at once keep clear, too', async ({ page }) => {
  await page.setViewportSize({ width: 320, height: 568 })
  const customer = await newCustomer()
  await openAs(page, customer, '/akun')
  await openWithMessage(page, '/akun')
  await openSheet(page, `Ubah nama ${customer.nama}`)
  await page.route('**/update_nama', (route) => route.abort())
  await page.getByRole('button', { name: 'Simpan' }).click()
  await expect(page.getByText('Tidak dapat terhubung')).toBeVisible()
  expect(await covered(page)).toEqual([])
})

test('that the history cannot be loaded is told below its header', async ({ page }) => {
  await openAs(page, await newCustomer())
  await page.route('**/list_history', (route) => route.abort())
  await page.getByRole('link', { name: 'Riwayat' }).click()
  const message = page.locator('[data-sonner-toast]').filter({ hasText: 'Tidak dapat terhubung' })
  await expect(message).toBeVisible()
  const gap = () =>
    message.evaluate((node) => {
      const header = document.querySelector('main > header')?.getBoundingClientRect()
      return Math.round(node.getBoundingClientRect().top - (header?.bottom ?? 0))
    })
  await expect.poll(gap).toBe(8)
})

test.describe('where the toaster cannot be fetched', () => {
  test.use({ expected: [/Failed to fetch dynamically imported module/] })

  test('a message is told plainly, above the bar', async ({ page }) => {
    await page.route(/\/toaster-.*\.js/, (route) => route.abort())
    await openAs(page, await newCustomer(), '/akun')
    await page.evaluate(() =>
      sessionStorage.setItem('nyala.pesan', JSON.stringify({ jenis: 'info', judul: 'Sesi Anda berakhir' })),
    )
    await page.reload()
    const message = page.getByRole('alert')
    await expect(message).toHaveText('Sesi Anda berakhir')
    const above = () =>
      message.evaluate((node) => {
        const bar = document.querySelector('nav')?.getBoundingClientRect().top ?? 0
        return bar - (node.firstElementChild?.getBoundingClientRect().bottom ?? 0)
      })
    await expect.poll(above).toBeGreaterThanOrEqual(12)
  })
})
