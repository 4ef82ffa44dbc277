import type { Page } from '@playwright/test'
import { newTelp } from './support/api.ts'
import { expect, telp, test, toastOf } from './support/test.ts'

/** Longer than a message takes to leave, much shorter than one is to be read. */
const EXIT_MS = 1_500

/** Fills the login with something that the server refuses at once. */
async function refusedAtOnce(page: Page): Promise<void> {
  await page.route('**/auth/login', (route) =>
    route.fulfill({ status: 401, json: { status: 401, message: 'password is incorrect', data: null } }),
  )
  await page.goto('/login')
  await telp(page).fill(newTelp())
  await page.getByLabel('Kata Sandi', { exact: true }).fill('salah sekali')
}

test('the same failure is told again, however quickly it comes', async ({ page }) => {
  await page.clock.install()
  await refusedAtOnce(page)
  const submit = page.getByRole('button', { name: 'Masuk' })
  for (let again = 0; again < 4; again++) {
    const refused = page.waitForResponse('**/auth/login')
    await submit.click()
    await refused
    await expect(toastOf(page, 'password is incorrect')).toBeVisible()
    await expect(submit).toBeEnabled()
    await page.clock.runFor(EXIT_MS)
    await expect(toastOf(page, 'password is incorrect')).toBeVisible()
    await expect(page.locator('[data-sonner-toast]')).toHaveCount(1)
  }
})
