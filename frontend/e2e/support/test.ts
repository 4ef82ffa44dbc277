import { test as base, expect, type Page } from '@playwright/test'
import type { Customer } from './api.ts'
import { type Line, openLine } from './line.ts'

interface Fixtures {
  /** What the browser complained about; every test ends with nothing in it. */
  complaints: string[]
  /** Expected complaints, e.g. the browser's own report of a 4xx answer. */
  expected: RegExp[]
  /** The way to the server, which a test can cut. */
  line: Line
}

/** A refused request is reported by the browser itself; that is no fault of the app. */
const ALWAYS_EXPECTED = [
  /Failed to load resource/,
  /net::ERR_/,
  /WebSocket connection to .* failed/,
  // A goodbye on a socket that the server is closing at the same moment, as after a logout.
  /WebSocket is already in CLOSING or CLOSED state/,
]
/** So is the service worker when its line is cut. */
const EXPECTED_OF_A_CUT_LINE = [/error occurred when fetching the script/]

export const test = base.extend<Fixtures>({
  expected: async ({}, use) => use([]),
  line: async ({}, use) => {
    const line = await openLine(process.env.NYALA_URL ?? '')
    await use(line)
    await line.close()
  },
  baseURL: async ({ line }, use) => use(line.url),
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

/** The screens that only a customer sees. */
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

/** Opens the app as somebody who is logged in, at the given address. */
export async function openAs(page: Page, customer: Customer, path = '/dashboard'): Promise<void> {
  await page.goto('/favicon.svg')
  await page.evaluate((token) => localStorage.setItem('token', token), customer.token)
  await page.goto(path)
}

export async function typeOtp(page: Page, code: string): Promise<void> {
  await page.getByLabel('Angka ke-1 dari 6').click()
  await page.keyboard.type(code)
}

/** The number's field, on every screen that asks for it. */
export const telp = (page: Page) => page.getByLabel('Nomor WhatsApp')

export const toastOf = (page: Page, text: string) => page.getByText(text, { exact: true })

/** A phone without one: what it answers from its cache, no route of a test can fail or hold. */
export const withoutServiceWorker = (page: Page) =>
  page.addInitScript(() => Reflect.deleteProperty(Navigator.prototype, 'serviceWorker'))
