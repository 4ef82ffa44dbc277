import type { Page } from '@playwright/test'
import { faults } from './support/fits.ts'
import { look } from './support/look.ts'
import { askMove, linkOf } from './support/move.ts'
import { PAGE_SIZES } from './support/sizes.ts'
import { expect, openAs, test } from './support/test.ts'
import { readyShop } from './support/till.ts'

/** In all sizes, light and dark. */
async function lookAt(page: Page, name: string): Promise<void> {
  for (const [width, height] of PAGE_SIZES) {
    await page.setViewportSize({ width, height })
    await look(page, name)
    expect(await faults(page)).toEqual([])
  }
}

test('who lost no number says no by the link of the message, without a login', async ({ page, context }) => {
  const shop = await readyShop(page)
  const asked = await askMove(shop, context)
  const link = await linkOf(asked)
  const phone = await context.newPage()
  // Looking changes nothing, because programs look at links, too.
  for (let looks = 0; looks < 2; looks++) await phone.goto(link)
  await expect(phone.getByRole('heading', { name: 'Akun Anda akan pindah nomor' })).toBeVisible()
  await expect(phone.getByText(/akan pindah ke nomor .* pada \d\d\/\d\d\/\d{4} \d\d[.:]\d\d/)).toBeVisible()
  await expect(phone.getByText(asked.old.telp)).toHaveCount(0)
  await lookAt(phone, 'pindah-tautan')

  await phone.getByRole('button', { name: 'Bukan saya, batalkan' }).press('Enter')
  const refused = phone.getByRole('heading', { name: 'Pindah nomor dibatalkan' })
  await expect(refused).toBeVisible()
  await expect(phone.getByText(/^Akun dan saldo tetap di nomor/)).toBeVisible()
  await lookAt(phone, 'pindah-tautan-ditolak')
  await phone.goto(link)
  await expect(refused).toBeVisible()
  await expect(phone.getByRole('button')).toHaveCount(0)

  await openAs(phone, asked.old)
  await expect(phone.getByText('Rp 30.000')).toBeVisible()
  await expect(phone.getByRole('region', { name: 'Akun ini akan pindah nomor' })).toHaveCount(0)
})

test('a link that nobody has been sent', async ({ page }) => {
  await page.goto('/pindah/0123456789abcdef')
  await expect(page.getByRole('heading', { name: 'Tautan ini tidak berlaku' })).toBeVisible()
  await expect(page.getByRole('button')).toHaveCount(0)
  await lookAt(page, 'pindah-tautan-lain')
})
