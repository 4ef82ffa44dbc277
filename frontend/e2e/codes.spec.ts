import { lastCode, newCustomer, newTelp } from './support/api.ts'
import { expect, openAs, telp, test, typeOtp } from './support/test.ts'

const CLAIM = /^Kode dikirim lewat WhatsApp ke/
const first = 'Angka ke-1 dari 6'

test('the code step of the registration can be typed into at once', async ({ page }) => {
  const number = newTelp()
  await page.goto('/register')
  await telp(page).fill(number)
  await page.getByLabel('Kata Sandi', { exact: true }).fill('Rahasia123')
  await page.getByLabel('Ulangi Kata Sandi').fill('Rahasia123')
  await page.getByLabel('Nama Akun').fill('Rina Wijaya')
  await page.getByRole('button', { name: 'Daftar' }).click()
  await expect(page.getByLabel(first)).toBeFocused()
  await expect(page.getByText(CLAIM).locator('..')).toContainText(`+62${number}`)
  await page.reload()
  await expect(page.getByLabel(first)).toBeFocused()
  await expect(page.getByText(CLAIM)).toBeVisible()
  await page.keyboard.type(await lastCode(number))
  await expect(page).toHaveURL('/dashboard')
})

test('a forgotten password: the page claims a code only when one was sent', async ({ page }) => {
  const { telp: number } = await newCustomer()
  await page.goto(`/forgotPasswordOtp/${number}`)
  await expect(page.getByLabel(first)).toBeFocused()
  await expect(page.getByText(CLAIM)).toHaveCount(0)
  await expect(page.getByText(`+62${number}`)).toBeVisible()

  // The code was requested but not sent: the page must not claim that it was.
  await page.route('**/request_otp_forgot_password', (route) =>
    route.fulfill({
      status: 503,
      json: { status: 503, message: 'kode gagal dikirim, coba lagi', data: null },
    }),
  )
  const resend = page.getByRole('button', { name: 'Kirim Ulang Kode' })
  await resend.click()
  await expect(page.getByText('kode gagal dikirim, coba lagi')).toBeVisible()
  await expect(page.getByText(CLAIM)).toHaveCount(0)

  await page.unrouteAll()
  await resend.click()
  await expect(page.getByText(CLAIM).locator('..')).toContainText(`+62${number}`)
  await typeOtp(page, await lastCode(number))
  await page.getByRole('button', { name: 'Simpan' }).click()
  await expect(page).toHaveURL(`/changePassword/${number}`)
})

test('a socket library that cannot be fetched is not complained about, and comes later', async ({ page }) => {
  const isLibrary = (url: string) => /\/assets\/esm-/.test(url)
  await page.route(
    (url) => isLibrary(url.pathname),
    (route) => route.abort(),
  )
  const failed = page.waitForEvent('requestfailed', (request) => isLibrary(request.url()))
  await openAs(page, await newCustomer())
  await expect(page.getByText('Belum ada saldo E-Pay')).toBeVisible()
  await failed
  await page.unrouteAll()
  // The browser itself would never ask for it again.
  const socket = page.waitForEvent('websocket')
  await page.evaluate(() => window.dispatchEvent(new Event('online')))
  await socket
})
