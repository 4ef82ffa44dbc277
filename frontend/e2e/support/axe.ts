import AxeBuilder from '@axe-core/playwright'
import type { Page } from '@playwright/test'
import { expect } from './test.ts'

/** The screen as it stands has no accessibility fault that axe knows: `rules` of them, else all. */
export async function expectAccessible(page: Page, ...rules: string[]): Promise<void> {
  // In the page itself: a page of axe's own, for the frames of others, takes half of the time, and there are none.
  const axe = new AxeBuilder({ page }).setLegacyMode()
  const { violations } = await (rules.length > 0 ? axe.withRules(rules) : axe).analyze()
  const told = violations.map(({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html).join(' | ')}`)
  expect(told).toEqual([])
}

/** Nothing sticks out at the side. */
async function expectNoSideways(page: Page): Promise<void> {
  const overflow = await page.evaluate(() => document.documentElement.scrollWidth - window.innerWidth)
  expect(overflow).toBeLessThanOrEqual(0)
}

/** Fades end before axe measures contrast, those too that begin with the next frames: a message is drawn first and then fades in. */
export async function settle(page: Page): Promise<void> {
  await page.evaluate(async () => {
    const frame = () => new Promise((drawn) => requestAnimationFrame(drawn))
    for (;;) {
      await frame()
      await frame()
      const once = document.getAnimations().filter((one) => one.effect?.getComputedTiming().iterations === 1)
      const moving = once.filter(({ playState }) => playState === 'running')
      if (moving.length === 0) return
      // One that is taken away with its element is over, too.
      await Promise.allSettled(moving.map((one) => one.finished))
    }
  })
}

/** A screen as it stands: nothing for axe to find, and nothing wider than the phone. */
export async function expectFineScreen(page: Page): Promise<void> {
  // The address changes first: the heading may still be the last screen's, and one that is still being fetched has none yet.
  await expect(page.locator('h1')).toBeAttached()
  // A message comes and goes when it likes, also while axe measures: without motion it is never half there.
  await page.emulateMedia({ reducedMotion: 'reduce' })
  await settle(page)
  await expect(page.locator('h1')).toBeAttached()
  await expectAccessible(page)
  await expectNoSideways(page)
  await page.emulateMedia({ reducedMotion: null })
}
