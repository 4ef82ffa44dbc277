import { join } from 'node:path'
import { type Page, test } from '@playwright/test'
import { open } from '../stage/open.ts'
import { screens } from '../stage/screens.ts'
import { FOLDER, THEMES } from './folder.ts'

/** The picture hides the caret, which blinks. */
const shot = (page: Page, name: string) =>
  page.screenshot({ path: join(FOLDER, `${name}.png`), caret: 'hide' })

test.use({ baseURL: async ({}, use) => use(process.env.NYALA_URL ?? '') })

for (const [colorScheme, suffix] of THEMES) {
  test.describe(colorScheme, () => {
    test.use({ colorScheme, viewport: { width: 390, height: 844 } })

    for (const screen of screens) {
      test(screen.name, async ({ page }) => {
        await open(page, screen)
        await shot(page, `${screen.name}${suffix}`)
      })
    }

    test('on a desktop', async ({ page }) => {
      await page.setViewportSize({ width: 1280, height: 800 })
      const home = screens.find(({ name }) => name === 'beranda')
      if (home) await open(page, home)
      await shot(page, `desktop${suffix}`)
    })
  })
}
