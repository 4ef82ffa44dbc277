import { newCustomer } from './support/api.ts'
import { expect, test } from './support/test.ts'
import { button, callsTo, openTill, PIN, pressScan, TABLET, typeNumber } from './support/till.ts'

test.use({ viewport: TABLET })

test("'belum terdaftar' hears Escape, and whoever types goes on with a new number", async ({ page }) => {
  await openTill(page)
  const unknown = page.getByRole('region', { name: /belum terdaftar/i })
  const search = async () => {
    await typeNumber(page, '089900011122')
    await page.keyboard.press('Enter')
    await expect(unknown).toBeVisible()
  }
  await search()
  await page.keyboard.press('Escape')
  await expect(page.getByText('Ketik nomor WhatsApp')).toBeVisible()
  await search()
  await pressScan(page, '8991002101234')
  await expect(page.getByText('Itu bukan kode pelanggan Nyala.')).toBeVisible()
  await expect(unknown).toBeVisible()
  const customer = await newCustomer('Siti Rahma')
  await typeNumber(page, `0${customer.telp}`)
  await expect(page.getByLabel('Nomor yang diketik')).toHaveText(/^0\d{3} /)
  await expect(page.getByText('belum terdaftar')).toBeHidden()
  await page.keyboard.press('Enter')
  await expect(page.getByRole('region', { name: 'Pelanggan', exact: true })).toContainText('Siti R.')
})

test('cash above what the drawer holds is told before anybody types a PIN; what it holds asks for one', async ({
  page,
}) => {
  await openTill(page)
  const approvals = callsTo(page, 'izin')
  await page.getByRole('link', { name: 'Shift' }).click()
  const dialog = page.getByRole('dialog')
  for (const [kind, does, why] of [
    ['Uang keluar', 'Keluarkan', 'Beli perlengkapan'],
    ['Setor', 'Setor', 'Ke bank'],
  ] as const) {
    await button(page, kind).click()
    await page.keyboard.type('25000')
    await page.keyboard.press('Enter')
    await dialog.getByRole('button', { name: why }).click()
    await dialog.getByRole('button', { name: `${does} Rp 25.000` }).click()
    await expect(dialog.getByText('Uang di laci tidak cukup')).toBeVisible()
    await expect(dialog.getByText('PIN Hadi')).toBeHidden()
    await page.keyboard.press('Escape')
  }
  expect(approvals).toEqual([])

  await button(page, 'Uang masuk').click()
  await page.keyboard.type('25000')
  await page.keyboard.press('Enter')
  await dialog.getByRole('button', { name: 'Uang kembalian' }).click()
  await dialog.getByRole('button', { name: 'Masukkan Rp 25.000' }).click()
  await expect(page.getByText('Uang masuk sudah dicatat.')).toBeVisible()
  await button(page, 'Setor').click()
  await page.keyboard.type('25000')
  await page.keyboard.press('Enter')
  await dialog.getByRole('button', { name: 'Ke bank' }).click()
  await dialog.getByRole('button', { name: 'Setor Rp 25.000' }).click()
  await expect(dialog.getByText('PIN Hadi')).toBeVisible()
  await expect(dialog.getByText('Perlu persetujuan supervisor')).toBeHidden()
  await page.keyboard.type(PIN.hadi)
  await expect(page.getByText('Setor sudah dicatat.')).toBeVisible()
})
