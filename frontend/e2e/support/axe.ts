import AxeBuilder from '@axe-core/playwright'
import type { Page } from '@playwright/test'
import { expect } from './test.ts'

/** The current screen has no accessibility fault that axe knows; with `rules`, only those rules are checked. */
export async function expectAccessible(page: Page, ...rules: string[]): Promise<void> {
  // Legacy mode runs axe in the page itself. The default opens a separate page to check frames; that takes twice the time, and the app
  // has no frames.
  const axe = new AxeBuilder({ page }).setLegacyMode()
  const { violations } = await (rules.length > 0 ? axe.withRules(rules) : axe).analyze()
  const found = violations.map(({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html).join(' | ')}`)
  expect(found).toEqual([])
}

/** The page does not scroll sideways. */
async function expectNoSideways(page: Page): Promise<void> {
  const overflow = await page.evaluate(() => document.documentElement.scrollWidth - window.innerWidth)
  expect(overflow).toBeLessThanOrEqual(0)
}

/**
 * Waits for fades to end before axe measures contrast. Some start only with the next frames: a message is drawn first and then fades in.
 */
export async function settle(page: Page): Promise<void> {
  await page.evaluate(async () => {
    const frame = () => new Promise((drawn) => requestAnimationFrame(drawn))
    for (;;) {
      await frame()
      await frame()
      const once = document.getAnimations().filter((one) => one.effect?.getComputedTiming().iterations === 1)
      const moving = once.filter(({ playState }) => playState === 'running')
      if (moving.length === 0) return
      // An animation removed together with its element is over, too.
      await Promise.allSettled(moving.map((one) => one.finished))
    }
  })
}

/** The current screen has no fault that axe finds, and is not wider than the phone. */
export async function expectFineScreen(page: Page): Promise<void> {
  // The address changes first: the heading may still be the last screen's, and a screen that is still loading has none yet.
  await expect(page.locator('h1')).toBeAttached()
  // A message may appear or disappear while axe measures: without motion it is never half visible.
  await page.emulateMedia({ reducedMotion: 'reduce' })
  await settle(page)
  await expect(page.locator('h1')).toBeAttached()
  await expectAccessible(page)
  await expectNoSideways(page)
  await page.emulateMedia({ reducedMotion: null })
}
