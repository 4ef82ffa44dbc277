import type { Page } from '@playwright/test'
import { codesSent, lastCode, newCustomer, scan } from './support/api.ts'
import { expectFineScreen } from './support/axe.ts'
import { expect, openAs, test, toastOf, typeOtp } from './support/test.ts'

const NEW_PASSWORD = 'Baru45678'

const dialog = (page: Page, name: string) => page.getByRole('dialog', { name, exact: true })

async function openPassword(page: Page): Promise<void> {
  await page.getByRole('button', { name: /^Ubah Kata Sandi/ }).click()
  await expect(dialog(page, 'Ubah Kata Sandi')).toBeVisible()
}

async function fillPassword(page: Page, current: string, next: string, repeat = next): Promise<void> {
  await page.getByLabel('Kata Sandi Lama', { exact: true }).fill(current)
  await page.getByLabel('Kata Sandi Baru', { exact: true }).fill(next)
  await page.getByLabel('Ulangi Kata Sandi Baru', { exact: true }).fill(repeat)
  await page.getByRole('button', { name: 'Simpan' }).click()
}

const storedToken = (page: Page) => page.evaluate(() => localStorage.getItem('token'))

test('the profile, and that the number stays', async ({ page }) => {
  const customer = await newCustomer('Siti Rahmawati')
  await openAs(page, customer, '/akun')
  await expect(page.getByText('Siti Rahmawati', { exact: true })).toBeVisible()
  await expect(page.getByText(`+62${customer.telp}`)).toBeVisible()
  await expect(page.getByText(/Terakhir diubah \d\d\/\d\d\/\d{4} \d\d:\d\d/)).toBeVisible()
  await page.getByRole('button', { name: /^Nomor WhatsApp/ }).click()
  await expect(dialog(page, 'Nomor WhatsApp')).toContainText(/daftar lagi dengan nomor yang baru/)
  await expectFineScreen(page)
  await page.getByRole('button', { name: 'Mengerti' }).click()
  await expect(page.getByRole('dialog')).toHaveCount(0)
})

test('another name is on every screen at once', async ({ page }) => {
  await openAs(page, await newCustomer('Siti Rahmawati'), '/akun')
  await page.getByRole('button', { name: 'Ubah nama Siti Rahmawati' }).click()
  const field = page.getByLabel('Nama Akun')
  await expect(field).toHaveValue('Siti Rahmawati')
  const save = page.getByRole('button', { name: 'Simpan' })
  await field.fill('Siti')
  await expect(save).toBeDisabled()
  await field.fill('  Siti  ')
  await expect(save).toBeDisabled()
  await field.fill('Rina  Kusuma Wijaya')
  await save.click()
  await expect(toastOf(page, 'Nama Berhasil Di Ubah')).toBeVisible()
  await expect(page.getByRole('dialog')).toHaveCount(0)
  await expect(page.getByText('Rina Kusuma Wijaya')).toBeVisible()
  await page.getByRole('link', { name: 'Beranda' }).click()
  await expect(page.getByRole('heading', { name: 'Rina Kusuma Wijaya' })).toBeVisible()
})

test('a name the server refuses is told, and the form stays', async ({ page }) => {
  await openAs(page, await newCustomer('Siti Rahmawati'), '/akun')
  await page.route('**/update_nama', (route) =>
    route.fulfill({ status: 422, json: { status: 422, message: 'Nama Akun Minimal 2 Kata', data: null } }),
  )
  await page.getByRole('button', { name: 'Ubah nama Siti Rahmawati' }).click()
  await page.getByRole('button', { name: 'Simpan' }).click()
  await expect(toastOf(page, 'Nama Akun Minimal 2 Kata')).toBeVisible()
  await expect(dialog(page, 'Ubah Nama')).toBeVisible()
})

test('the password form says what is missing', async ({ page }) => {
  const customer = await newCustomer()
  await openAs(page, customer, '/akun')
  await openPassword(page)
  await expectFineScreen(page)
  await page.getByRole('button', { name: 'Simpan' }).click()
  await expect(toastOf(page, 'Data ada yang kosong')).toBeVisible()
  await fillPassword(page, customer.password, NEW_PASSWORD, `${NEW_PASSWORD}x`)
  await expect(toastOf(page, 'Kata sandi tidak sama')).toBeVisible()
  await expect(dialog(page, 'Ubah Kata Sandi')).toContainText('Min. 8 karakter')
})

test('another password: a wrong code, then the right one; still logged in after it', async ({ page }) => {
  const customer = await newCustomer()
  await openAs(page, customer, '/akun')
  await openPassword(page)
  await fillPassword(page, customer.password, NEW_PASSWORD)
  const verify = dialog(page, 'Verifikasi Perubahan')
  await expect(verify).toBeVisible()
  await expect(verify.getByText(/00:5\d|01:00/)).toBeVisible()
  await expect(verify.getByRole('button', { name: 'Kirim Ulang Kode' })).toBeDisabled()
  await expect(verify.getByRole('button', { name: 'Simpan' })).toBeDisabled()
  await expectFineScreen(page)

  const code = await lastCode(customer.telp)
  await typeOtp(page, code === '000000' ? '000001' : '000000')
  await expect(toastOf(page, 'your otp is invalid')).toBeVisible()
  await typeOtp(page, code)
  await expect(toastOf(page, 'Berhasil merubah sandi')).toBeVisible()
  await expect(page.getByRole('dialog')).toHaveCount(0)
  await expect(page).toHaveURL('/akun')
  await expect(page.getByText('Budi Santoso')).toBeVisible()

  const token = await storedToken(page)
  expect(token).not.toBe(customer.token)
  expect((await scan('dashboard/get_dashboard', undefined, token ?? '')).status).toBe(200)
  expect((await scan('dashboard/get_dashboard', undefined, customer.token)).status).toBe(401)
  const login = { country_code: '62', telp: customer.telp, password: NEW_PASSWORD }
  expect((await scan('auth/login', login)).status).toBe(200)
})

test('a wrong old password: the form reopens with its values and the same code serves', async ({ page }) => {
  const customer = await newCustomer()
  await openAs(page, customer, '/akun')
  await openPassword(page)
  await fillPassword(page, 'BukanIni1', NEW_PASSWORD)
  await expect(dialog(page, 'Verifikasi Perubahan')).toBeVisible()
  const sent = await codesSent(customer.telp)
  await typeOtp(page, await lastCode(customer.telp))
  await expect(toastOf(page, 'password lama salah')).toBeVisible()
  const form = dialog(page, 'Ubah Kata Sandi')
  await expect(form.getByLabel('Kata Sandi Lama', { exact: true })).toHaveValue('BukanIni1')
  await expect(form.getByLabel('Kata Sandi Baru', { exact: true })).toHaveValue(NEW_PASSWORD)

  await form.getByLabel('Kata Sandi Lama', { exact: true }).fill(customer.password)
  await form.getByRole('button', { name: 'Simpan' }).click()
  const verify = dialog(page, 'Verifikasi Perubahan')
  await expect(verify.getByText(/00:[0-5]\d/)).toBeVisible()
  expect(await codesSent(customer.telp)).toBe(sent)
  await typeOtp(page, await lastCode(customer.telp))
  await expect(toastOf(page, 'Berhasil merubah sandi')).toBeVisible()
})

test('a reload while the code is awaited goes on with it', async ({ page }) => {
  const customer = await newCustomer()
  await openAs(page, customer, '/akun')
  await openPassword(page)
  await fillPassword(page, customer.password, NEW_PASSWORD)
  await expect(dialog(page, 'Verifikasi Perubahan')).toBeVisible()
  await page.reload()
  const verify = dialog(page, 'Verifikasi Perubahan')
  await expect(verify.getByText(/00:[0-5]\d/)).toBeVisible()
  await typeOtp(page, await lastCode(customer.telp))
  await expect(toastOf(page, 'Berhasil merubah sandi')).toBeVisible()
})

test('a code that cannot be sent, and the resend', async ({ page }) => {
  const customer = await newCustomer()
  await page.clock.install()
  await openAs(page, customer, '/akun')
  await openPassword(page)
  await page.route('**/request_otp_password', (route) =>
    route.fulfill({
      status: 503,
      json: { status: 503, message: 'kode gagal dikirim, coba lagi', data: null },
    }),
  )
  await fillPassword(page, customer.password, NEW_PASSWORD)
  await expect(toastOf(page, 'Sistem Sedang Sibuk, Coba Lagi!')).toBeVisible()
  const save = page.getByRole('button', { name: 'Simpan' })
  await expect(save).toBeEnabled()
  await page.unrouteAll()
  await save.click()
  const resend = page.getByRole('button', { name: 'Kirim Ulang Kode' })
  await expect(resend).toBeDisabled()
  await page.clock.runFor(61_000)
  await expect(page.getByText('00:00')).toBeVisible()
  // The server's own minute is not over: its answer contains the time left to wait.
  await resend.click()
  await expect(page.getByText(/detik/).first()).toBeVisible()
  await page.route('**/request_otp_password', (route) =>
    route.fulfill({ json: { status: 200, message: 'kode dikirim', data: null } }),
  )
  await resend.click()
  await expect(page.getByText('01:00')).toBeVisible()
  await expect(resend).toBeDisabled()
})

test('logging out', async ({ page }) => {
  const customer = await newCustomer()
  await openAs(page, customer, '/akun')
  await page.getByRole('button', { name: 'Keluar Aplikasi' }).click()
  await expect(page).toHaveURL('/')
  // The server accepted the change too, although the page did not wait for it.
  const asks = async () => (await scan('akun/update_nama', { nama: 'Budi Santoso' }, customer.token)).status
  await expect.poll(asks).toBe(401)
  await expect(toastOf(page, 'Berhasil Logout!')).toBeVisible()
  expect(await storedToken(page)).toBeNull()
  expect(await page.evaluate(() => Object.keys(localStorage))).toEqual([])
  for (const path of ['/akun', '/riwayatPage', '/topUpPage']) {
    await page.goto(path)
    await expect(page).toHaveURL('/')
  }
})

test('a token that cannot be removed is told', async ({ page }) => {
  await openAs(page, await newCustomer(), '/akun')
  await page.evaluate(() => {
    Storage.prototype.removeItem = () => undefined
  })
  await page.getByRole('button', { name: 'Keluar Aplikasi' }).click()
  await expect(toastOf(page, 'gagal logout!')).toBeVisible()
  await expect(page).toHaveURL('/akun')
})

test('a session that ended elsewhere leads to the login', async ({ page }) => {
  const customer = await newCustomer()
  await openAs(page, customer, '/akun')
  await expect(page.getByText('Budi Santoso')).toBeVisible()
  await scan('akun/request_otp_password', {}, customer.token)
  const otp = await lastCode(customer.telp)
  const change = { otp, password_lama: customer.password, password_baru: NEW_PASSWORD }
  expect((await scan('akun/update_password', change, customer.token)).status).toBe(200)
  // The socket may already have ended the session in the app; then the link no longer exists.
  await page.evaluate(() => document.querySelector<HTMLElement>('a[href="/riwayatPage"]')?.click())
  await expect(page).toHaveURL('/login')
  expect(await storedToken(page)).toBeNull()
})

test('without network the account says so, and logging out still works', async ({ page }) => {
  const customer = await newCustomer()
  await page.route('**/customer_global/*', (route) => route.abort())
  await openAs(page, customer, '/akun')
  await expect(page.getByText('Akun belum bisa dimuat')).toBeVisible({ timeout: 20_000 })
  await expectFineScreen(page)
  await page.unrouteAll()
  await page.getByRole('button', { name: 'Coba lagi' }).click()
  await expect(page.getByText('Budi Santoso')).toBeVisible()
  await page.getByRole('button', { name: 'Keluar Aplikasi' }).click()
  await expect(page).toHaveURL('/')
})

test('the account in the dark on a narrow phone', async ({ page }) => {
  await page.emulateMedia({ colorScheme: 'dark' })
  await page.setViewportSize({ width: 320, height: 640 })
  await openAs(page, await newCustomer('Siti Nurhaliza Rahmawati Kusumawardhani'), '/akun')
  await expect(page.getByText('Siti Nurhaliza Rahmawati Kusumawardhani', { exact: true })).toBeVisible()
  await expectFineScreen(page)
  await openPassword(page)
  await expectFineScreen(page)
})
