import { join } from 'node:path'
import { type Page, test } from '@playwright/test'
import { expectFineScreen } from './axe.ts'
import { SIZES } from './sizes.ts'

/** Axe finds nothing in either theme; with `E2E_SHOTS` pictures are saved there. */
export async function look(page: Page, name: string): Promise<void> {
  const { width, height } = page.viewportSize() ?? { width: 0, height: 0 }
  const folder = process.env.E2E_SHOTS
  await page.mouse.move(0, 0)
  for (const colorScheme of ['light', 'dark'] as const) {
    await page.emulateMedia({ colorScheme })
    await expectFineScreen(page, ...(colorScheme === 'dark' ? ['color-contrast'] : []))
    if (folder) await page.screenshot({ path: join(folder, `${name}-${width}x${height}-${colorScheme}.png`) })
  }
  await page.emulateMedia({ colorScheme: null })
}

/**
 * Looks at the current screen in each size, and returns to the one that it had: one walk for all sizes. `before` is done in each size
 * before the look.
 */
export async function lookAtSizes(page: Page, name: string, before = async () => {}): Promise<void> {
  const had = page.viewportSize()
  for (const [width, height] of SIZES) {
    await test.step(`${name} at ${width}×${height}`, async () => {
      await page.setViewportSize({ width, height })
      await before()
      await look(page, name)
    })
  }
  if (had) await page.setViewportSize(had)
}
