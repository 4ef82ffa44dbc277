import { open } from './stage/open.ts'
import { screens } from './stage/screens.ts'
import { newCustomer } from './support/api.ts'
import { enterCode, shop } from './support/purchase.ts'
import { ALL_SIZES } from './support/sizes.ts'
import { expect, openAs, test } from './support/test.ts'
import { button, choosePins, findByNumber, lock, logIn, openShop, PIN } from './support/till.ts'
import { translate } from './support/translate.ts'

test.beforeEach(({ page }) => translate(page))

test('a purchase, its countdown to the end, and the way out on a translated page', async ({ page }) => {
  const { world, customer } = await shop(15)
  await openAs(page, customer, '/scanPage')
  await enterCode(page, world.machine.kode)
  await page.getByRole('button', { name: /Cuci Kilat/ }).click()
  await page.getByRole('button', { name: new RegExp(world.outlet) }).click()
  await expect(page.locator('font').first()).toBeAttached()
  await page.getByRole('button', { name: 'Bayar & Nyalakan Mesin' }).click()
  const timer = page.getByRole('timer')
  await expect(timer).toContainText(/00:\d\d/)
  const before = await timer.textContent()
  await expect(timer).not.toHaveText(before ?? '')
  const next = await timer.textContent()
  await expect(timer).not.toHaveText(next ?? '')
  await expect(page.getByText('Selesai', { exact: true })).toBeVisible()
  await expect(page.getByText('Rp 42.000').first()).toBeVisible()
  await page.getByRole('link', { name: 'Riwayat' }).click()
  await page.getByRole('listitem').filter({ hasText: '-Rp 8.000' }).getByRole('button').click()
  await expect(page.getByRole('dialog')).toContainText('No Nota')
  await page.keyboard.press('Escape')
  await page.getByRole('link', { name: 'Akun' }).click()
  await page.getByRole('button', { name: /^Ubah nama/ }).click()
  await page.getByLabel('Nama Akun').fill('Siti Melati')
  await page.getByRole('button', { name: 'Simpan' }).click()
  await expect(page.getByText('Nama Berhasil Di Ubah')).toBeVisible()
  await expect(page.getByText('Siti Melati')).toBeVisible()
})

test('what counts down before the login moves on a translated page', async ({ page }) => {
  const { telp } = await newCustomer()
  await page.goto('/forgotPasswordTelp')
  await page.getByLabel('Nomor WhatsApp').fill(telp)
  await page.getByRole('button', { name: 'Kirim Kode OTP' }).click()
  const left = page.getByText(/^00:\d\d$/)
  const before = await left.textContent()
  await expect(left).not.toHaveText(before ?? '')
})

test('a day at the till on a translated page', async ({ page }) => {
  const siti = await newCustomer('Siti Rahma')
  const shop = await openShop(page)
  await choosePins(shop)
  await page.reload()
  await logIn(page, 'Rina', PIN.rina)
  await expect(page.getByText('Modal di laci')).toBeVisible()
  await page.keyboard.type('200000')
  await button(page, 'Buka shift, modal Rp 200.000').click()
  await findByNumber(page, siti)
  await button(page, 'Rp 50.000').click()
  await button(page, 'Isi Rp 50.000 untuk Siti').click()
  await expect(page.getByText('Saldo Siti R. sudah masuk')).toBeVisible()
  await page.getByRole('link', { name: 'Transaksi' }).click()
  await expect(page.getByText('Siti R.').first()).toBeVisible()
  await page.getByRole('link', { name: 'Shift' }).click()
  await button(page, 'Tutup shift').click()
  await page.keyboard.type('5')
  await expect(page.getByText('Rp 500.000').first()).toBeVisible()
  await lock(page)
  await expect(page.getByText('Siapa yang bertugas?')).toBeVisible()
})

// `make test` opens them so in phones.spec.ts.
if (ALL_SIZES)
  for (const screen of screens) {
    test(`${screen.name} stands on a translated page`, ({ page }) => open(page, screen))
  }
