import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import type { Page } from '@playwright/test'
import type axe from 'axe-core'
import { expect } from './test.ts'

const AXE = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8')

/** The current screen has no accessibility fault that axe knows; with `rules`, only those rules are checked. */
export async function expectAccessible(page: Page, ...rules: string[]): Promise<void> {
  // Sending and compiling axe costs as much as a run of it, so each document gets it once.
  if (!(await page.evaluate(() => 'axe' in window))) await page.evaluate(AXE)
  const found = await page.evaluate(async (rules) => {
    const { violations } = await (window as unknown as { axe: typeof axe }).axe.run({
      // Describing elements that pass takes longer than checking them.
      resultTypes: ['violations'],
      // No active rule reads style sheets.
      preload: { assets: ['media'] },
      ...(rules.length > 0 && { runOnly: rules }),
    })
    return violations.map(({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html).join(' | ')}`)
  }, rules)
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

/** The current screen has no fault that axe finds (with `rules`, by only those rules), and is not wider than the phone. */
export async function expectFineScreen(page: Page, ...rules: string[]): Promise<void> {
  // The address changes first: the heading may still be the last screen's, and a screen that is still loading has none yet.
  await expect(page.locator('h1')).toBeAttached()
  // A message may appear or disappear while axe measures: without motion it is never half visible.
  const motion = await page.evaluate(() => matchMedia('(prefers-reduced-motion: no-preference)').matches)
  if (motion) await page.emulateMedia({ reducedMotion: 'reduce' })
  await settle(page)
  await expect(page.locator('h1')).toBeAttached()
  await expectAccessible(page, ...rules)
  await expectNoSideways(page)
  if (motion) await page.emulateMedia({ reducedMotion: 'no-preference' })
}
