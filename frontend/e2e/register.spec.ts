import type { Page } from '@playwright/test'
import { codesSent, lastCode, newCustomer, newTelp } from './support/api.ts'
import { expect, telp, test, toastOf, typeOtp } from './support/test.ts'

async function fillRegister(page: Page, number: string, name = 'Rina Wijaya', password = 'Rahasia123') {
  await telp(page).fill(number)
  await page.getByLabel('Kata Sandi', { exact: true }).fill(password)
  await page.getByLabel('Ulangi Kata Sandi').fill(password)
  await page.getByLabel('Nama Akun').fill(name)
}

const submitRegister = (page: Page) => page.getByRole('button', { name: 'Daftar' }).click()

test('registration from the welcome card to the dashboard', async ({ page }) => {
  const number = newTelp()
  await page.goto('/')
  await page.getByRole('button', { name: 'Daftar' }).click()
  await fillRegister(page, number)
  await submitRegister(page)
  await expect(page).toHaveURL(`/otp/${number}`)
  await expect(page.getByText(`+62${number}`)).toBeVisible()
  await expect(page.getByRole('button', { name: 'Daftar' })).toBeDisabled()
  await expect(page.getByRole('button', { name: 'Kirim Ulang Kode' })).toBeDisabled()
  await expect(page.getByText(/00:5\d/)).toBeVisible()

  // The sixth digit submits the form.
  await typeOtp(page, await lastCode(number))
  await expect(page).toHaveURL('/dashboard')
  await expect(toastOf(page, 'Registrasi Berhasil')).toBeVisible()
  await expect(page.getByRole('heading', { name: 'Rina Wijaya' })).toBeVisible()
  await expect(page.getByText('Belum ada saldo E-Pay')).toBeVisible()
})

test('the registration form tells its faults', async ({ page }) => {
  await page.goto('/register')
  await submitRegister(page)
  await expect(toastOf(page, 'Form Belum Lengkap')).toBeVisible()
  await fillRegister(page, newTelp(), 'Rina')
  await submitRegister(page)
  await expect(toastOf(page, 'Nama Akun Minimal 2 Kata')).toBeVisible()
  await page.getByLabel('Nama Akun').fill('Rina Wijaya')
  await page.getByLabel('Ulangi Kata Sandi').fill('lain')
  await submitRegister(page)
  await expect(toastOf(page, 'Password Tidak Sama')).toBeVisible()
})

test('a number already registered leads to the login', async ({ page }) => {
  const customer = await newCustomer()
  await page.goto('/register')
  await fillRegister(page, customer.telp)
  await submitRegister(page)
  await expect(toastOf(page, 'nomor sudah terdaftar')).toBeVisible()
  await expect(page).toHaveURL('/login')
})

test('a wrong code is told and another can be typed', async ({ page }) => {
  const number = newTelp()
  await page.goto('/register')
  await fillRegister(page, number)
  await submitRegister(page)
  await expect(page).toHaveURL(`/otp/${number}`)
  const code = await lastCode(number)
  await typeOtp(page, code === '000000' ? '000001' : '000000')
  await expect(toastOf(page, 'your otp is invalid')).toBeVisible()
  const first = page.getByLabel('Angka ke-1 dari 6')
  await expect(first).toHaveValue('')
  await expect(first).toBeFocused()
  await page.keyboard.type(code)
  await expect(page).toHaveURL('/dashboard')
})

test('the code boxes: only digits, backspace goes back, a pasted code spreads out', async ({
  page,
  context,
}) => {
  const number = newTelp()
  await page.goto('/register')
  await fillRegister(page, number)
  await submitRegister(page)
  await typeOtp(page, '1a2')
  await expect(page.getByLabel('Angka ke-2 dari 6')).toHaveValue('2')
  await page.keyboard.press('Backspace')
  await expect(page.getByLabel('Angka ke-2 dari 6')).toHaveValue('')
  await page.keyboard.press('Backspace')
  await expect(page.getByLabel('Angka ke-1 dari 6')).toHaveValue('')

  await context.grantPermissions(['clipboard-read', 'clipboard-write'])
  const code = await lastCode(number)
  await page.evaluate((text) => navigator.clipboard.writeText(text), `Kode Anda ${code}`)
  await page.keyboard.press('Control+V')
  await expect(page).toHaveURL('/dashboard')
})

test('a second submit within a minute asks for no second code, and a reload goes on counting', async ({
  page,
}) => {
  const number = newTelp()
  await page.goto('/register')
  await fillRegister(page, number)
  await submitRegister(page)
  await expect(page).toHaveURL(`/otp/${number}`)
  await page.getByRole('button', { name: 'Kembali' }).click()
  await expect(page.getByLabel('Nama Akun')).toHaveValue('Rina Wijaya')
  await submitRegister(page)
  await expect(page).toHaveURL(`/otp/${number}`)
  await page.reload()
  await expect(page.getByText(/00:[45]\d/)).toBeVisible()
  await expect(page.getByRole('button', { name: 'Kirim Ulang Kode' })).toBeDisabled()
  expect(await codesSent(number)).toBe(1)
  await typeOtp(page, await lastCode(number))
  await expect(page).toHaveURL('/dashboard')
})

test('the resend button works once the countdown reads 00:00', async ({ page }) => {
  await page.clock.install()
  const number = newTelp()
  await page.goto('/register')
  await fillRegister(page, number)
  await submitRegister(page)
  await expect(page).toHaveURL(`/otp/${number}`)
  const resend = page.getByRole('button', { name: 'Kirim Ulang Kode' })
  await expect(resend).toBeDisabled()
  await page.clock.runFor(61_000)
  await expect(page.getByText('00:00')).toBeVisible()
  await expect(resend).toBeEnabled()
  // The server's own minute is not over: its sentence is shown.
  await resend.click()
  await expect(page.getByText(/detik/)).toBeVisible()
})

for (const [status, message] of [
  [404, 'record not found'],
  [400, 'otp tidak terbaca'],
] as const) {
  test(`a registration answered ${status} leads to the login`, async ({ page }) => {
    const number = newTelp()
    await page.goto('/register')
    await fillRegister(page, number)
    await submitRegister(page)
    await expect(page).toHaveURL(`/otp/${number}`)
    await page.route('**/auth/register', (route) =>
      route.fulfill({ status, json: { status, message, data: null } }),
    )
    await typeOtp(page, await lastCode(number))
    await expect(toastOf(page, 'terdapat kesalahan sistem, mohon coba kembali')).toBeVisible()
    await expect(page).toHaveURL('/login')
  })
}

test('two taps on Daftar ask for one code', async ({ page }) => {
  const number = newTelp()
  let asked = 0
  page.on('request', (request) => {
    if (request.url().endsWith('/request_otp')) asked += 1
  })
  await page.goto('/register')
  await fillRegister(page, number)
  await page.getByRole('button', { name: 'Daftar' }).dblclick()
  await expect(page).toHaveURL(`/otp/${number}`)
  expect(asked).toBe(1)
})

test('the code step without its form leads back to the form', async ({ page }) => {
  await page.goto(`/otp/${newTelp()}`)
  await expect(page).toHaveURL('/register')
  await page.goto('/otp/0812')
  await expect(page).toHaveURL('/register')
})
