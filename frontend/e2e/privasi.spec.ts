import { newCustomer } from './support/api.ts'
import { look } from './support/look.ts'
import { PAGE_SIZES } from './support/sizes.ts'
import { expect, openAs, telp, test } from './support/test.ts'

test('privacy is read before the registration, and with a login', async ({ page }) => {
  await page.goto('/register')
  await page.getByRole('link', { name: 'Baca privasi' }).click()
  await expect(page).toHaveURL('/privasi')
  await expect(page.getByRole('heading', { name: 'Yang disimpan' })).toBeVisible()
  // Each thing that is stored, with its end.
  for (const fact of [
    /Kode WhatsApp berlaku 5 menit\. .*alamat internet yang memintanya: 30 hari/,
    /kata sandi salah.*: 15 menit/,
    /Catatan yang Anda tulis di laporan: sampai Anda menghapus akun/,
    /cadangan.*juga setelah Anda menghapus akun/,
    'Penyedia QRIS (Midtrans): nomor tagihan, jumlah, dan batas waktu bayar, tanpa nama dan nomor Anda',
  ])
    await expect(page.getByRole('listitem').filter({ hasText: fact })).toHaveCount(1)
  for (const stored of await page
    .getByRole('region', { name: 'Yang disimpan, dan berapa lama' })
    .getByRole('listitem')
    .all())
    await expect(stored).toHaveText(/menit|jam|hari|selamanya|sampai/)
  // No login is stored.
  await expect(page.getByText('Kapan Anda masuk')).toHaveCount(0)
  for (const [width, height] of PAGE_SIZES) {
    await page.setViewportSize({ width, height })
    await look(page, 'privasi')
  }
  await page.getByRole('button', { name: 'Kembali' }).click()
  await expect(page).toHaveURL('/register')
  await expect(telp(page)).toBeVisible()

  await openAs(page, await newCustomer(), '/privasi')
  await expect(page.getByRole('heading', { name: 'Yang disimpan' })).toBeVisible()
})
