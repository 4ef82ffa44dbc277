import { join } from 'node:path'
import type { Page } from '@playwright/test'
import { expectFineScreen } from './axe.ts'

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
