import { newCustomer } from './support/api.ts'
import { look } from './support/look.ts'
import { expect, openAs, telp, test } from './support/test.ts'

test('privacy is read before the registration, and with a login', async ({ page }) => {
  await page.goto('/register')
  await page.getByRole('link', { name: 'Baca privasi' }).click()
  await expect(page).toHaveURL('/privasi')
  await expect(page.getByRole('heading', { name: 'Yang disimpan' })).toBeVisible()
  for (const [width, height] of [
    [320, 640],
    [390, 844],
    [768, 1024],
    [1280, 800],
  ] as const) {
    await page.setViewportSize({ width, height })
    await look(page, 'privasi')
  }
  await page.getByRole('button', { name: 'Kembali' }).click()
  await expect(page).toHaveURL('/register')
  await expect(telp(page)).toBeVisible()

  await openAs(page, await newCustomer(), '/privasi')
  await expect(page.getByRole('heading', { name: 'Yang disimpan' })).toBeVisible()
})
