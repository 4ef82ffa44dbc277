import type { Locator, Page } from '@playwright/test'
import { lastCode, newCustomer, newTelp } from './support/api.ts'
import { expectFineScreen } from './support/axe.ts'
import { expect, openAs, telp, test, toastOf, typeOtp } from './support/test.ts'

const SHORT = 'kata sandi minimal 8 karakter'
const PASSWORD = 'Rahasia123'

const field = (page: Page, label: string) => page.getByLabel(label, { exact: true })
const advice = (page: Page) => page.getByRole('list').filter({ hasText: 'Huruf besar' })

/** Everything that this tab's page has stored. */
const stored = (page: Page) =>
  page.evaluate(() => JSON.stringify([{ ...localStorage }, { ...sessionStorage }]))

/** Counts the page's calls of the given name. */
function countCalls(page: Page, name: string): () => number {
  let count = 0
  page.on('request', (request) => {
    if (request.url().endsWith(`/${name}`)) count += 1
  })
  return () => count
}

/** The field has the focus and shows its error; the sentence is in the page once. */
async function expectWrong(page: Page, input: Locator, sentence: string): Promise<void> {
  await expect(page.getByText(sentence, { exact: true })).toHaveCount(1)
  await expect(page.getByText(sentence, { exact: true })).toBeVisible()
  await expect(page.locator('[data-sonner-toast]')).toHaveCount(0)
  await expect(input).toBeFocused()
  await expect(input).toHaveAttribute('aria-invalid', 'true')
  await expect(input).toHaveAccessibleDescription(new RegExp(sentence))
}

async function fillRegister(page: Page, number: string): Promise<void> {
  await telp(page).fill(number)
  await field(page, 'Kata Sandi').fill(PASSWORD)
  await field(page, 'Ulangi Kata Sandi').fill(PASSWORD)
  await field(page, 'Nama Akun').fill('Rina Wijaya')
}

async function register(page: Page, number: string): Promise<void> {
  await page.goto('/register')
  await fillRegister(page, number)
  await page.getByRole('button', { name: 'Daftar' }).click()
  await expect(page).toHaveURL(`/otp/${number}`)
}

/** Walks to the page that sets a new password after a forgotten one. */
async function toReset(page: Page, number: string): Promise<void> {
  await page.goto('/forgotPasswordTelp')
  await telp(page).fill(number)
  await page.getByRole('button', { name: 'Kirim Kode OTP' }).click()
  await expect(page).toHaveURL(`/forgotPasswordOtp/${number}`)
  await typeOtp(page, await lastCode(number))
  await page.getByRole('button', { name: 'Simpan' }).click()
  await expect(page).toHaveURL(`/changePassword/${number}`)
  await expect(field(page, 'Kata Sandi Baru')).toBeVisible()
}

async function openChange(page: Page): Promise<void> {
  await page.getByRole('button', { name: /^Ubah Kata Sandi/ }).click()
  await expect(page.getByRole('dialog')).toBeVisible()
}

test('what makes a good password is ticked off as it is typed, and nothing waits for it', async ({
  page,
}) => {
  await page.goto('/register')
  const ticks = async (...met: boolean[]) => {
    const expected = met.map((is) => (is ? /\(sudah\)$/ : /\(belum\)$/))
    await expect(advice(page).getByRole('listitem')).toHaveText(expected)
  }
  const button = page.getByRole('button', { name: 'Daftar' })
  await ticks(false, false, false, false)
  await field(page, 'Kata Sandi').pressSequentially('rah')
  await ticks(false, false, true, false)
  await field(page, 'Kata Sandi').pressSequentially('A1')
  await ticks(false, true, true, true)
  await field(page, 'Kata Sandi').pressSequentially('sia')
  await ticks(true, true, true, true)
  await expect(field(page, 'Kata Sandi')).toHaveAccessibleDescription(/Min\. 8 karakter \(sudah\)/)
  await field(page, 'Kata Sandi').fill('abcdefgh')
  await ticks(true, false, true, false)
  await expect(button).toBeEnabled()
  await expectFineScreen(page)

  // The server accepts a password of lower-case letters only.
  const number = newTelp()
  await telp(page).fill(number)
  await field(page, 'Ulangi Kata Sandi').fill('abcdefgh')
  await field(page, 'Nama Akun').fill('Rina Wijaya')
  await button.click()
  await expect(page).toHaveURL(`/otp/${number}`)
})

test.describe('a password of seven characters is told before anything is asked of the server', () => {
  test('at the registration', async ({ page }) => {
    const asked = countCalls(page, 'request_otp')
    await page.goto('/register')
    await fillRegister(page, newTelp())
    await field(page, 'Kata Sandi').fill('Abcdef7')
    await field(page, 'Ulangi Kata Sandi').fill('Abcdef7')
    await page.getByRole('button', { name: 'Daftar' }).click()
    await expectWrong(page, field(page, 'Kata Sandi'), SHORT)
    await expect(page).toHaveURL('/register')
    await expectFineScreen(page)
    expect(asked()).toBe(0)
    expect(await stored(page)).not.toContain('Abcdef7')
    // The message disappears as soon as it is no longer true.
    await field(page, 'Kata Sandi').fill('Abcdefg8')
    await expect(page.getByText(SHORT)).toHaveCount(0)
  })

  test('at the reset', async ({ page }) => {
    const { telp: number } = await newCustomer()
    const asked = countCalls(page, 'forgot_password')
    await toReset(page, number)
    await field(page, 'Kata Sandi Baru').fill('Abcdef7')
    await field(page, 'Ulangi Kata Sandi Baru').fill('Abcdef7')
    await page.getByRole('button', { name: 'Simpan' }).click()
    await expectWrong(page, field(page, 'Kata Sandi Baru'), SHORT)
    expect(asked()).toBe(0)
    await field(page, 'Kata Sandi Baru').fill('Abcdefg8')
    await field(page, 'Ulangi Kata Sandi Baru').fill('Abcdefg8')
    await page.getByRole('button', { name: 'Simpan' }).click()
    await expect(page).toHaveURL('/login')
  })

  test('at the change', async ({ page }) => {
    const customer = await newCustomer()
    const asked = countCalls(page, 'request_otp_password')
    await openAs(page, customer, '/akun')
    await openChange(page)
    await field(page, 'Kata Sandi Lama').fill(customer.password)
    await field(page, 'Kata Sandi Baru').fill('Abcdef7')
    await field(page, 'Ulangi Kata Sandi Baru').fill('Abcdef7')
    await page.getByRole('button', { name: 'Simpan' }).click()
    await expectWrong(page, field(page, 'Kata Sandi Baru'), SHORT)
    await expectFineScreen(page)
    expect(asked()).toBe(0)
  })
})

test.describe('what is wrong stands at its field', () => {
  test('at the login', async ({ page }) => {
    await page.goto('/login')
    const submit = page.getByRole('button', { name: 'Masuk' })
    await submit.click()
    await expectWrong(page, telp(page), 'Field masih kosong')
    await expectFineScreen(page)
    await telp(page).fill(newTelp())
    await submit.click()
    await expectWrong(page, field(page, 'Kata Sandi'), 'Field masih kosong')
    await expect(telp(page)).not.toHaveAttribute('aria-invalid')
  })

  test('a wrong password and an unknown number are marked and get the focus', async ({ page }) => {
    const customer = await newCustomer()
    await page.goto('/login')
    await telp(page).fill(newTelp())
    await field(page, 'Kata Sandi').fill('salah sekali')
    await page.getByRole('button', { name: 'Masuk' }).click()
    await expect(toastOf(page, 'Akun tidak ditemukan')).toBeVisible()
    await expect(telp(page)).toBeFocused()
    await expect(telp(page)).toHaveAttribute('aria-invalid', 'true')
    await telp(page).fill(customer.telp)
    await expect(page.locator('[aria-invalid]')).toHaveCount(0)
    await page.getByRole('button', { name: 'Masuk' }).click()
    await expect(toastOf(page, 'password is incorrect')).toBeVisible()
    await expect(field(page, 'Kata Sandi')).toBeFocused()
    await expect(field(page, 'Kata Sandi')).toHaveAttribute('aria-invalid', 'true')
    await expectFineScreen(page)
  })

  test('at the registration', async ({ page }) => {
    await page.goto('/register')
    const submit = page.getByRole('button', { name: 'Daftar' })
    await submit.click()
    await expectWrong(page, telp(page), 'Form Belum Lengkap')
    for (const label of ['Kata Sandi', 'Ulangi Kata Sandi', 'Nama Akun']) {
      await expect(field(page, label)).toHaveAttribute('aria-invalid', 'true')
    }
    await fillRegister(page, newTelp())
    await expect(page.locator('[aria-invalid]')).toHaveCount(0)
    await field(page, 'Ulangi Kata Sandi').fill('lain')
    await field(page, 'Nama Akun').fill('Rina')
    await submit.click()
    await expectWrong(page, field(page, 'Ulangi Kata Sandi'), 'Password Tidak Sama')
    await expect(page.getByText('Nama Akun Minimal 2 Kata')).toHaveCount(1)
    await expect(field(page, 'Nama Akun')).toHaveAccessibleDescription('Nama Akun Minimal 2 Kata')
    await field(page, 'Ulangi Kata Sandi').fill(PASSWORD)
    await submit.click()
    await expectWrong(page, field(page, 'Nama Akun'), 'Nama Akun Minimal 2 Kata')
  })

  test('at a forgotten password', async ({ page }) => {
    const { telp: number } = await newCustomer()
    await page.goto('/forgotPasswordTelp')
    await page.getByRole('button', { name: 'Kirim Kode OTP' }).click()
    await expectWrong(page, telp(page), 'Field masih kosong')
    await toReset(page, number)
    const submit = page.getByRole('button', { name: 'Simpan' })
    await field(page, 'Kata Sandi Baru').fill(PASSWORD)
    await submit.click()
    await expectWrong(page, field(page, 'Ulangi Kata Sandi Baru'), 'Form Belum Lengkap')
    await field(page, 'Ulangi Kata Sandi Baru').fill('lain')
    await submit.click()
    await expectWrong(page, field(page, 'Ulangi Kata Sandi Baru'), 'Password Tidak Sama')
  })

  test('at the change of the password', async ({ page }) => {
    const customer = await newCustomer()
    await page.setViewportSize({ width: 320, height: 568 })
    await openAs(page, customer, '/akun')
    await openChange(page)
    const submit = page.getByRole('button', { name: 'Simpan' })
    await submit.click()
    await expectWrong(page, field(page, 'Kata Sandi Lama'), 'Data ada yang kosong')
    await field(page, 'Kata Sandi Lama').fill(customer.password)
    await field(page, 'Kata Sandi Baru').fill(PASSWORD)
    await field(page, 'Ulangi Kata Sandi Baru').fill('lain')
    await submit.click()
    await expectWrong(page, field(page, 'Ulangi Kata Sandi Baru'), 'Kata sandi tidak sama')
    await expectFineScreen(page)
  })
})

test('password managers are told whose password it is, and which ones are new', async ({ page }) => {
  const customer = await newCustomer()
  const fields = (form = page.locator('form')) =>
    form.evaluate((node) =>
      [...node.querySelectorAll('input')].map(({ autocomplete, value }) => [autocomplete, value]),
    )
  await page.goto('/login')
  expect(await fields()).toEqual([
    ['username', ''],
    ['current-password', ''],
  ])
  await page.goto('/register')
  expect((await fields()).map(([kind]) => kind)).toEqual(['username', 'new-password', 'new-password', 'name'])
  await toReset(page, customer.telp)
  expect(await fields()).toEqual([
    ['username', customer.telp],
    ['new-password', ''],
    ['new-password', ''],
  ])
  await openAs(page, customer, '/akun')
  await openChange(page)
  expect(await fields()).toEqual([
    ['username', customer.telp],
    ['current-password', ''],
    ['new-password', ''],
    ['new-password', ''],
  ])
})

test.describe('no password stays in the storage', () => {
  test('of a registration, after ten minutes', async ({ page }) => {
    await page.clock.install()
    const number = newTelp()
    await register(page, number)
    expect(await stored(page)).toContain(PASSWORD)
    await page.reload()
    await expect(page).toHaveURL(`/otp/${number}`)
    await page.clock.runFor('10:01')
    expect(await stored(page)).not.toContain(PASSWORD)
    await page.reload()
    await expect(page).toHaveURL('/register')
    await expect(field(page, 'Kata Sandi')).toHaveValue('')
  })

  test('of a registration, on another screen too', async ({ page }) => {
    await page.clock.install()
    await register(page, newTelp())
    await page.goto('/')
    expect(await stored(page)).toContain(PASSWORD)
    await page.clock.runFor('10:01')
    expect(await stored(page)).not.toContain(PASSWORD)
  })

  for (const [what, leave] of [
    ['a registration', (page: Page) => page.goto('/register').then(() => telp(page).fill(newTelp()))],
    ['a code', (page: Page) => page.goto(`/otp/${newTelp()}`)],
    [
      'a forgotten password',
      async (page: Page) => {
        await page.goto('/forgotPasswordTelp')
        await telp(page).fill(newTelp())
        await page.getByRole('button', { name: 'Kirim Kode OTP' }).click()
        await expect(toastOf(page, 'nomor belum terdaftar')).toBeVisible()
      },
    ],
    [
      'a login',
      async (page: Page) => {
        const other = await newCustomer()
        await page.goto('/login')
        await telp(page).fill(other.telp)
        await field(page, 'Kata Sandi').fill(other.password)
        await page.getByRole('button', { name: 'Masuk' }).click()
        await expect(page).toHaveURL('/dashboard')
      },
    ],
  ] as const) {
    test(`of a registration, with ${what} of another number`, async ({ page }) => {
      await register(page, newTelp())
      expect(await stored(page)).toContain(PASSWORD)
      await leave(page)
      await expect.poll(() => stored(page)).not.toContain(PASSWORD)
    })
  }

  test('of a change, after ten minutes and after the logout', async ({ page }) => {
    const customer = await newCustomer()
    await page.clock.install()
    await openAs(page, customer, '/akun')
    const toCode = async () => {
      await openChange(page)
      await field(page, 'Kata Sandi Lama').fill(customer.password)
      await field(page, 'Kata Sandi Baru').fill('SandiBaru9')
      await field(page, 'Ulangi Kata Sandi Baru').fill('SandiBaru9')
      await page.getByRole('button', { name: 'Simpan' }).click()
      await expect(page.getByRole('dialog', { name: 'Verifikasi Perubahan' })).toBeVisible()
      expect(await stored(page)).toContain('SandiBaru9')
    }
    await toCode()
    await page.goto('/dashboard')
    expect(await stored(page)).toContain('SandiBaru9')
    await page.clock.runFor('10:01')
    expect(await stored(page)).not.toContain('SandiBaru9')

    await page.route('**/request_otp_password', (route) =>
      route.fulfill({ json: { status: 200, message: 'kode dikirim', data: null } }),
    )
    await page.goto('/akun')
    await toCode()
    // The open dialog blocks every tap below it; another end of the session would have the same effect.
    await page.evaluate(() => {
      for (const button of document.querySelectorAll('button')) {
        if (button.textContent === 'Keluar Aplikasi') button.click()
      }
    })
    await expect(toastOf(page, 'Berhasil Logout!')).toBeVisible()
    expect(await stored(page)).not.toContain('SandiBaru9')
    expect(await stored(page)).not.toContain(customer.password)
  })
})
