import { type BrowserContext, test as base, expect, type Page } from '@playwright/test'
import type { Customer } from './api.ts'
import { type Line, openLine } from './line.ts'

interface Fixtures {
  /** The browser's errors and warnings; every test ends with none left. */
  complaints: string[]
  /** Expected complaints, e.g. the browser's own report of a 4xx answer. */
  expected: RegExp[]
  /** The connection to the server, which a test can cut. */
  line: Line
  /**
   * Whether the browser has service workers. Without a test that needs them they only cost: in each test the app's one fetches all of its
   * files again. A test's routes also cannot fail or delay what a service worker answers from its cache.
   */
  serviceWorker: boolean
}

/** The browser itself reports a refused request; that is not a fault of the app. */
const ALWAYS_EXPECTED = [
  /Failed to load resource/,
  /net::ERR_/,
  /WebSocket connection to .* failed/,
  // A closing frame on a socket that the server closes at the same moment, as after a logout.
  /WebSocket is already in CLOSING or CLOSED state/,
]
/** The service worker also reports an error when its connection is cut. */
const EXPECTED_OF_A_CUT_LINE = [/error occurred when fetching the script/]

/** A dialog that has closed leaves the history by a step back, in favour of which the browser drops a reload. */
const noStepBackIsDue = () =>
  (window.history.state?.sheets ?? 0) <= document.querySelectorAll('dialog[open]').length

export const test = base.extend<Fixtures>({
  expected: async ({}, use) => use([]),
  line: async ({}, use) => {
    const line = await openLine(process.env.NYALA_URL ?? '')
    await use(line)
    await line.close()
  },
  serviceWorker: [false, { option: true }],
  context: async ({ context, serviceWorker }, use) => {
    if (!serviceWorker) await withoutServiceWorker(context)
    await use(context)
  },
  baseURL: async ({ line }, use) => use(line.url),
  page: async ({ page }, use) => {
    const reload = page.reload.bind(page)
    page.reload = async (options) => {
      await expect.poll(() => page.evaluate(noStepBackIsDue)).toBe(true)
      return reload(options)
    }
    await use(page)
  },
  complaints: [
    async ({ page, expected, line }, use) => {
      const complaints: string[] = []
      page.on('console', (message) => {
        if (message.type() === 'error') complaints.push(message.text())
      })
      page.on('pageerror', (error) => complaints.push(String(error)))
      await use(complaints)
      const known = [...ALWAYS_EXPECTED, ...(line.wasCut() ? EXPECTED_OF_A_CUT_LINE : []), ...expected]
      expect(complaints.filter((text) => !known.some((pattern) => pattern.test(text)))).toEqual([])
    },
    { auto: true },
  ],
})

export { expect }

/** The screens that need a login. */
export const CUSTOMER_PATHS = [
  '/dashboard',
  '/scanPage',
  '/pilihLayanan',
  '/pilihEpay',
  '/pembayaran',
  '/riwayatPage',
  '/akun',
  '/topUpPage',
]

/** Opens the app as a logged-in customer, at the given address. */
export async function openAs(page: Page, customer: Customer, path = '/dashboard'): Promise<void> {
  const login = await page.addInitScript((token) => localStorage.setItem('token', token), customer.token)
  await page.goto(path)
  await login.dispose()
}

export async function typeOtp(page: Page, code: string): Promise<void> {
  await page.getByLabel('Angka ke-1 dari 6').click()
  await page.keyboard.type(code)
}

/** The number's field, on every screen that asks for the number. */
export const telp = (page: Page) => page.getByLabel('Nomor WhatsApp')

export const toastOf = (page: Page, text: string) => page.getByText(text, { exact: true })

export const withoutServiceWorker = (pages: BrowserContext | Page) =>
  pages.addInitScript(() => Reflect.deleteProperty(Navigator.prototype, 'serviceWorker'))
