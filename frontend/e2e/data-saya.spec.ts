import type { Page } from '@playwright/test'
import {
  balance,
  type Customer,
  lastCode,
  newCustomer,
  newTelp,
  newWorld,
  scan,
  topUp,
} from './support/api.ts'
import { look } from './support/look.ts'
import { expect, openAs, test, toastOf, typeOtp } from './support/test.ts'

const dialog = (page: Page, name: string) => page.getByRole('dialog', { name, exact: true })
const logIn = ({ telp, password }: Customer) =>
  scan<{ token: string }>('auth/login', { country_code: '62', telp, password })

async function openMove(page: Page, newNumber: string, password: string): Promise<void> {
  await page.getByRole('button', { name: /^Nomor WhatsApp/ }).click()
  await dialog(page, 'Nomor WhatsApp').getByRole('button', { name: 'Pindah ke nomor baru' }).click()
  await page.getByLabel('Nomor WhatsApp Baru').fill(newNumber)
  await page.getByLabel('Kata Sandi Nomor Ini', { exact: true }).fill(password)
}

test('the accounts move to a new number, with a code of each', async ({ page }) => {
  const { idoutlet } = await newWorld([])
  const old = await newCustomer('Siti Rahmawati')
  await topUp(old, idoutlet, 40_000)
  const next = { ...(await newCustomer('Siti Rahmawati')), password: 'Rahasia123' }
  await topUp(next, idoutlet, 10_000)
  await openAs(page, old, '/akun')
  await openMove(page, next.telp, old.password)
  await look(page, 'pindah')
  await page.getByRole('button', { name: 'Kirim kode ke dua nomor' }).click()
  await expect(dialog(page, 'Kode di nomor lama')).toBeVisible()
  await expect(dialog(page, 'Kode di nomor lama')).toContainText(/Kirim ulang dalam 00:5\d/)
  await look(page, 'pindah-kode')
  await typeOtp(page, await lastCode(old.telp))
  await expect(dialog(page, 'Kode di nomor baru')).toBeVisible()
  // Looking up the code may cost the phone its page.
  await page.reload()
  await expect(dialog(page, 'Kode di nomor baru')).toBeVisible()
  await typeOtp(page, await lastCode(next.telp))
  await expect(toastOf(page, 'Nomor sudah pindah')).toBeVisible()
  await expect(page.getByText(`+62${next.telp}`)).toBeVisible()
  await page.getByRole('link', { name: 'Beranda' }).click()
  await expect(page.getByText('Rp 50.000')).toBeVisible()
  expect((await logIn(next)).status).toBe(200)
  expect((await logIn(old)).status).not.toBe(200)

  await page.getByRole('link', { name: 'Riwayat' }).click()
  await page.getByRole('listitem').filter({ hasText: 'Pindah Nomor' }).click()
  await expect(dialog(page, 'Pindah Nomor')).toContainText('+Rp 10.000')
  await expect(dialog(page, 'Pindah Nomor')).not.toContainText(old.telp)
  await look(page, 'pindah-masuk')
})

test('a number that is not registered, and a wrong code', async ({ page }) => {
  const old = await newCustomer('Siti Rahmawati')
  const next = await newCustomer('Siti Rahmawati')
  await openAs(page, old, '/akun')
  await openMove(page, newTelp(), old.password)
  // Not a tap: right after the one that opened the sheet, a tap in the same place is ignored.
  await page.keyboard.press('Enter')
  await expect(toastOf(page, 'nomor belum terdaftar')).toBeVisible()
  await page.getByLabel('Nomor WhatsApp Baru').fill(next.telp)
  await page.getByRole('button', { name: 'Kirim kode ke dua nomor' }).click()
  await expect(dialog(page, 'Kode di nomor lama')).toBeVisible()
  const [oldCode, newCode] = [await lastCode(old.telp), await lastCode(next.telp)]
  await typeOtp(page, oldCode)
  await expect(dialog(page, 'Kode di nomor baru')).toBeVisible()
  await typeOtp(page, newCode === '000000' ? '000001' : '000000')
  await expect(toastOf(page, 'your otp is invalid')).toBeVisible()
  await expect(dialog(page, 'Kode di nomor lama')).toBeVisible()
  await typeOtp(page, oldCode)
  await expect(dialog(page, 'Kode di nomor baru')).toBeVisible()
  await typeOtp(page, newCode)
  await expect(toastOf(page, 'Nomor sudah pindah')).toBeVisible()
})

test('a copy of the data', async ({ page }) => {
  await openAs(page, await newCustomer('Siti Rahmawati'), '/akun')
  const download = page.waitForEvent('download')
  await page.getByRole('button', { name: /^Unduh data saya/ }).click()
  const file = await download
  expect(file.suggestedFilename()).toBe('data-nyala.zip')
  await expect(toastOf(page, 'Data sudah diunduh')).toBeVisible()
  for (let copies = 1; copies < 3; copies++) {
    const again = page.waitForEvent('download')
    await page.getByRole('button', { name: /^Unduh data saya/ }).click()
    await again
  }
  const refused = page.waitForResponse('**/akun/data')
  await page.getByRole('button', { name: /^Unduh data saya/ }).click()
  expect((await refused).status()).toBe(429)
})

test('the account is deleted, and its balance given up by a sentence of its own', async ({ page }) => {
  const { idoutlet } = await newWorld([])
  const customer = await newCustomer('Siti Rahmawati')
  await topUp(customer, idoutlet, 50_000)
  await openAs(page, customer, '/akun')
  await page.getByRole('button', { name: /^Hapus akun/ }).click()
  const form = dialog(page, 'Hapus akun')
  const remove = form.getByRole('button', { name: 'Hapus akun sekarang' })
  await expect(form.getByRole('switch')).toHaveText(/^Saya melepas saldo Rp 50\.000/)
  await expect(remove).toBeDisabled()
  await look(page, 'hapus-akun')
  await form.getByRole('switch').click()
  await form.getByLabel('Kata Sandi', { exact: true }).fill('BukanIni1')
  await remove.click()
  await expect(toastOf(page, 'Kata sandi salah')).toBeVisible()

  // The balance has grown: the sentence names the new sum, and has to be agreed to again.
  await topUp(customer, idoutlet, 20_000)
  await form.getByLabel('Kata Sandi', { exact: true }).fill(customer.password)
  await expect(async () => {
    if (await remove.isEnabled()) await remove.click()
    await expect(form.getByRole('switch')).toHaveText(/Rp 70\.000/, { timeout: 1_000 })
  }).toPass()
  await expect(form.getByRole('switch')).not.toBeChecked()
  expect(await balance(customer)).toBe(70_000)
  await form.getByRole('switch').click()
  await remove.click()
  await expect(page).toHaveURL('/')
  await expect(toastOf(page, 'Akun sudah dihapus')).toBeVisible()
  expect(await page.evaluate(() => Object.keys(localStorage))).toEqual([])
  expect((await logIn(customer)).status).toBe(404)
})
