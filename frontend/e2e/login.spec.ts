import { codesSent, lastCode, newCustomer, newTelp } from './support/api.ts'
import { expectFineScreen } from './support/axe.ts'
import { CUSTOMER_PATHS, expect, openAs, telp, test, toastOf, typeOtp } from './support/test.ts'

test('login: empty, unknown, wrong, right', async ({ page }) => {
  const customer = await newCustomer('Budi Santoso')
  await page.goto('/login')
  const submit = page.getByRole('button', { name: 'Masuk' })
  await submit.click()
  await expect(toastOf(page, 'Field masih kosong')).toBeVisible()
  await telp(page).fill(newTelp())
  await page.getByLabel('Kata Sandi', { exact: true }).fill('Rahasia123')
  await submit.click()
  await expect(toastOf(page, 'Akun tidak ditemukan')).toBeVisible()
  await telp(page).fill(customer.telp)
  await page.getByLabel('Kata Sandi', { exact: true }).fill('salah sekali')
  await submit.click()
  await expect(toastOf(page, 'password is incorrect')).toBeVisible()
  await expect(submit).toBeEnabled()
  await page.getByLabel('Kata Sandi', { exact: true }).fill(customer.password)
  await page.getByRole('button', { name: 'Tampilkan kata sandi' }).click()
  await expect(page.getByLabel('Kata Sandi', { exact: true })).toHaveAttribute('type', 'text')
  await submit.click()
  await expect(page).toHaveURL('/dashboard')
  await expect(page.getByRole('heading', { name: 'Budi Santoso' })).toBeVisible()
})

test('the login fits the smallest phone, and its band gives way to the keyboard', async ({ page }) => {
  await page.setViewportSize({ width: 320, height: 568 })
  await page.goto('/login')
  const header = page.getByRole('main').locator('header')
  const tall = async () => (await header.boundingBox())?.height ?? 0
  await expect(page.getByRole('link', { name: 'Lupa Kata Sandi' })).toBeInViewport({ ratio: 1 })
  await expect(page.getByRole('link', { name: 'Daftar' })).toBeInViewport({ ratio: 1 })
  expect(await page.evaluate(() => document.documentElement.scrollHeight - window.innerHeight)).toBe(0)
  expect(await tall()).toBeGreaterThan(150)

  await telp(page).focus()
  await page.setViewportSize({ width: 320, height: 308 })
  await expect.poll(tall).toBe(56)
  await expect(telp(page)).toBeInViewport({ ratio: 1 })
  await expect(page.getByRole('button', { name: 'Masuk' })).toBeInViewport({ ratio: 1 })
  await expectFineScreen(page)
  await page.setViewportSize({ width: 320, height: 568 })
  await expect.poll(tall).toBeGreaterThan(150)
})

test('the number field keeps digits and is cleared by 62 or 0', async ({ page }) => {
  await page.goto('/login')
  await telp(page).pressSequentially('812-345')
  await expect(telp(page)).toHaveValue('812345')
  await telp(page).fill('62812345')
  await expect(telp(page)).toHaveValue('')
  await telp(page).fill('0')
  await expect(telp(page)).toHaveValue('')
})

test('a forgotten password', async ({ page }) => {
  const customer = await newCustomer()
  await page.goto('/login')
  await page.getByRole('link', { name: 'Lupa Kata Sandi' }).click()
  const send = page.getByRole('button', { name: 'Kirim Kode OTP' })
  await send.click()
  await expect(toastOf(page, 'Field masih kosong')).toBeVisible()
  await telp(page).fill(newTelp())
  await send.click()
  await expect(toastOf(page, 'nomor belum terdaftar')).toBeVisible()
  await telp(page).fill(customer.telp)
  await send.click()
  await expect(page).toHaveURL(`/forgotPasswordOtp/${customer.telp}`)

  // Here the sixth digit does not submit: the form waits for Simpan.
  await typeOtp(page, await lastCode(customer.telp))
  await expect(page).toHaveURL(`/forgotPasswordOtp/${customer.telp}`)
  await page.getByRole('button', { name: 'Simpan' }).click()
  await expect(page).toHaveURL(`/changePassword/${customer.telp}`)
  await page.reload()
  const save = page.getByRole('button', { name: 'Simpan' })
  await save.click()
  await expect(toastOf(page, 'Form Belum Lengkap')).toBeVisible()
  await page.getByLabel('Kata Sandi Baru', { exact: true }).fill('SandiBaru9')
  await page.getByLabel('Ulangi Kata Sandi Baru').fill('lain')
  await save.click()
  await expect(toastOf(page, 'Password Tidak Sama')).toBeVisible()
  await page.getByLabel('Ulangi Kata Sandi Baru').fill('SandiBaru9')
  await save.click()
  await expect(page).toHaveURL('/login')
  await expect(toastOf(page, 'Sandi diperbaruhi')).toBeVisible()

  await telp(page).fill(customer.telp)
  await page.getByLabel('Kata Sandi', { exact: true }).fill('SandiBaru9')
  await page.getByRole('button', { name: 'Masuk' }).click()
  await expect(page).toHaveURL('/dashboard')
})

test('a forgotten password: no second code within a minute, then the resend', async ({ page }) => {
  const customer = await newCustomer()
  await page.clock.install()
  await page.goto('/forgotPasswordTelp')
  await telp(page).fill(customer.telp)
  await page.getByRole('button', { name: 'Kirim Kode OTP' }).click()
  await expect(page).toHaveURL(`/forgotPasswordOtp/${customer.telp}`)
  const sent = await codesSent(customer.telp)
  await page.clock.runFor(20_000)
  await page.getByRole('button', { name: 'Kembali' }).click()
  await telp(page).fill(customer.telp)
  await page.getByRole('button', { name: 'Kirim Kode OTP' }).click()
  await expect(page).toHaveURL(`/forgotPasswordOtp/${customer.telp}`)
  await expect(page.getByText(/00:(40|3\d)/)).toBeVisible()
  await page.reload()
  await expect(page.getByText(/00:(40|3\d)/)).toBeVisible()
  expect(await codesSent(customer.telp)).toBe(sent)

  await page.route('**/request_otp_forgot_password', (route) =>
    route.fulfill({ json: { status: 200, message: 'kode dikirim', data: null } }),
  )
  await page.clock.runFor(41_000)
  await expect(page.getByText('00:00')).toBeVisible()
  await page.getByRole('button', { name: 'Kirim Ulang Kode' }).click()
  await expect(page.getByText('01:00')).toBeVisible()
})

test('a reset with a wrong code leads back to the number', async ({ page }) => {
  const customer = await newCustomer()
  await page.goto('/forgotPasswordTelp')
  await telp(page).fill(customer.telp)
  await page.getByRole('button', { name: 'Kirim Kode OTP' }).click()
  await expect(page).toHaveURL(`/forgotPasswordOtp/${customer.telp}`)
  const code = await lastCode(customer.telp)
  await typeOtp(page, code === '000000' ? '000001' : '000000')
  await page.getByRole('button', { name: 'Simpan' }).click()
  await page.getByLabel('Kata Sandi Baru', { exact: true }).fill('SandiBaru9')
  await page.getByLabel('Ulangi Kata Sandi Baru').fill('SandiBaru9')
  await page.getByRole('button', { name: 'Simpan' }).click()
  await expect(page).toHaveURL('/forgotPasswordTelp')
  await expect(toastOf(page, 'Mohon coba lagi')).toBeVisible()
  await expect(toastOf(page, 'Kesalahan sistem')).toBeVisible()
  await page.goto(`/changePassword/${customer.telp}`)
  await expect(page).toHaveURL(`/forgotPasswordOtp/${customer.telp}`)
})

test('the guard: without a token to the root, with one to the dashboard, unknown addresses home', async ({
  page,
}) => {
  for (const path of CUSTOMER_PATHS) {
    await page.goto(path)
    await expect(page).toHaveURL('/')
  }
  await page.goto('/tidak/ada')
  await expect(page).toHaveURL('/')
  const customer = await newCustomer()
  await openAs(page, customer, '/')
  await expect(page).toHaveURL('/dashboard')
  for (const path of ['/login', '/register', '/forgotPasswordTelp', '/playground']) {
    await page.goto(path)
    await expect(page).toHaveURL('/dashboard')
  }
})

test('a refused token leads to the login and is removed; a server in trouble does not', async ({ page }) => {
  const customer = await newCustomer()
  await page.route('**/scan/v1/dashboard/**', (route) =>
    route.fulfill({ status: 503, json: { status: 503, message: 'sistem sibuk', data: null } }),
  )
  await openAs(page, customer)
  await expect(page.getByText('sistem sibuk')).toBeVisible({ timeout: 15_000 })
  expect(await page.evaluate(() => localStorage.getItem('token'))).toBe(customer.token)
  await page.unroute('**/scan/v1/dashboard/**')
  await page.getByRole('button', { name: 'Coba lagi' }).click()
  await expect(page.getByRole('heading', { name: customer.nama })).toBeVisible()

  await openAs(page, { ...customer, token: `${customer.token}x` })
  await expect(page).toHaveURL('/login')
  await expect(toastOf(page, 'Sesi Anda berakhir')).toBeVisible()
  expect(await page.evaluate(() => localStorage.getItem('token'))).toBeNull()
  await page.goto('/dashboard')
  await expect(page).toHaveURL('/')
})

test('another customer in another tab: nothing of the first one stays', async ({ page, context, line }) => {
  const first = await newCustomer('Siti Rahmawati')
  const second = await newCustomer('Budi Santoso')
  await openAs(page, first)
  await expect(page.getByRole('heading', { name: 'Siti Rahmawati' })).toBeVisible()
  await page.evaluate(() => sessionStorage.setItem('nyala.pribadi.beli', '{}'))
  const other = await context.newPage()
  await other.goto(`${line.url}/favicon.svg`)
  await other.evaluate((token) => localStorage.setItem('token', token), second.token)
  await expect(page.getByRole('heading', { name: 'Budi Santoso' })).toBeVisible()
  await expect(page.getByText('Siti Rahmawati')).toHaveCount(0)
  expect(await page.evaluate(() => sessionStorage.getItem('nyala.pribadi.beli'))).toBeNull()
})

test('no network at login: it says so and the form stays', async ({ page, line }) => {
  await page.goto('/login')
  await telp(page).fill(newTelp())
  await page.getByLabel('Kata Sandi', { exact: true }).fill('Rahasia123')
  // The form's messages are fetched when it gets the focus.
  await page.waitForLoadState('networkidle')
  line.cut()
  await page.getByRole('button', { name: 'Masuk' }).click()
  await expect(page.getByText('Tidak dapat terhubung')).toBeVisible()
  await expect(page.getByRole('button', { name: 'Masuk' })).toBeEnabled()
})
