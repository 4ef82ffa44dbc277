import type { Page } from '@playwright/test'
import { newCustomer, newTelp } from './support/api.ts'
import { expect, openAs, telp, test, toastOf } from './support/test.ts'
import { touch } from './support/touch.ts'

test.use({ contextOptions: { reducedMotion: 'no-preference' } })

/** A time longer than a message's exit and much shorter than its display. */
const EXIT_MS = 1_500

/** Fills in a login that the server refuses at once. */
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

for (const [way, by] of [
  ['down', { y: 60 }],
  ['aside', { x: 90 }],
] as const) {
  test(`a message that is swept ${way} is gone at once`, async ({ page }) => {
    // The installed clock stops messages from disappearing by themselves.
    await page.clock.install()
    await refusedAtOnce(page)
    await page.getByRole('button', { name: 'Masuk' }).click()
    const message = page.locator('[data-sonner-toast]')
    await expect(message).toBeVisible()
    const finger = await touch(page, message)
    await finger.move(by)
    await finger.lift()
    // The installed clock runs on only once the sweep was understood.
    await expect(message).toHaveAttribute('data-removed', 'true')
    await page.clock.runFor(EXIT_MS)
    await expect(message).toHaveCount(0)
  })
}

test('good news is read quickly, a fault takes longer', async ({ page }) => {
  await page.clock.install()
  const message = page.locator('[data-sonner-toast]')
  for (const [kind, gone_ms] of [
    ['sukses', 2_500],
    ['gagal', 6_000],
  ] as const) {
    await page.goto('/login')
    await page.evaluate(
      (jenis) => sessionStorage.setItem('nyala.pesan', JSON.stringify({ jenis, judul: 'Pesan' })),
      kind,
    )
    await page.reload()
    await expect(message).toBeVisible()
    await page.clock.runFor(gone_ms - 500)
    await expect(message).toBeVisible()
    await page.clock.runFor(EXIT_MS)
    await expect(message).toHaveCount(0)
  }
})

test('the newest message is on top of the others, which stay where they are', async ({ page }) => {
  await page.emulateMedia({ reducedMotion: 'reduce' })
  await openAs(page, await newCustomer('Siti Rahmawati'), '/akun')
  await page.evaluate(() =>
    sessionStorage.setItem('nyala.pesan', JSON.stringify({ jenis: 'info', judul: 'Yang pertama' })),
  )
  await page.goto('/akun')
  await page.route('**/update_nama', (route) => route.abort())
  const message = (text: string) => page.locator('[data-sonner-toast]').filter({ hasText: text })
  const top = async (text: string) => Math.round((await message(text).boundingBox())?.y ?? Number.NaN)
  await page.getByRole('button', { name: /^Ubah nama/ }).press('Enter')
  // A message under the mouse stays.
  await message('Yang pertama').hover()
  const before = await top('Yang pertama')
  await page.getByRole('button', { name: 'Simpan' }).press('Enter')
  await expect(message('Tidak dapat terhubung')).toBeVisible()
  expect(await top('Yang pertama')).toBe(before)
  expect(await top('Tidak dapat terhubung')).toBeLessThan(before)
})
