import { join } from 'node:path'
import { type Page, test } from '@playwright/test'
import { expectFineScreen } from '../support/axe.ts'
import { expect } from '../support/test.ts'
import { button, findByNumber, lock, PIN, TABLET } from '../support/till.ts'
import { stageTill } from '../support/till-stage.ts'
import { FOLDER, THEMES } from './folder.ts'

const PHONE = { width: 360, height: 740 }

async function shot(page: Page, name: string): Promise<void> {
  await expectFineScreen(page)
  await page.screenshot({ path: join(FOLDER, `kasir-${name}.png`) })
}

test.use({ viewport: TABLET })

for (const [colorScheme, suffix] of THEMES) {
  test(`the till, ${colorScheme}`, async ({ page }) => {
    await page.emulateMedia({ colorScheme })
    const { siti } = await stageTill(page)
    await findByNumber(page, siti)
    await button(page, 'Rp 50.000').click()
    await expect(page.getByRole('heading', { name: /Baru saja/ })).toBeVisible()
    await page.mouse.move(0, 0)
    await shot(page, `isi-saldo${suffix}`)
    await button(page, 'Isi Rp 50.000 untuk Siti').click()
    await expect(page.getByText('Saldo Siti R. sudah masuk')).toBeVisible()
    await page.setViewportSize(PHONE)
    await shot(page, `berhasil${suffix}`)
    await page.getByRole('link', { name: 'Shift' }).click()
    await button(page, 'Tutup shift').click()
    for (const [piece, times] of [
      ['100.000', 1],
      ['50.000', 1],
      ['20.000', 1],
    ] as const) {
      for (let n = 0; n < times; n++) await button(page, `Tambah ${piece}`).click()
    }
    await shot(page, `hitung${suffix}`)
    await page.setViewportSize(TABLET)
    await lock(page)
    await page.getByRole('button', { name: /Rina/ }).click()
    await page.keyboard.type(PIN.rina.slice(0, 3))
    await page.mouse.move(0, 0)
    await shot(page, `masuk${suffix}`)
  })
}
