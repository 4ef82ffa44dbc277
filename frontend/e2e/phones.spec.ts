import type { Page } from '@playwright/test'
import { open } from './stage/open.ts'
import { screens } from './stage/screens.ts'
import { expectAccessible } from './support/axe.ts'
import { cover, enlarge, faults, type Insets } from './support/fits.ts'
import { ALL_SIZES } from './support/sizes.ts'
import { still } from './support/still.ts'
import { expect, test } from './support/test.ts'
import { translate, untranslate } from './support/translate.ts'

/** The heights that a notch and the home indicator cover. */
const BARS: Insets = { top: 47, bottom: 34 }
const UNCOVERED: Insets = { top: 0, bottom: 0 }
/** Factor of the letters' normal size. */
const LARGE = 1.3

/** The screen's main action is wholly in sight and in reach of a right thumb: in the lower half, not at the far side. */
async function outOfReach(page: Page, action: string | RegExp): Promise<string[]> {
  const target = page.getByRole('button', { name: action }).or(page.getByRole('link', { name: action }))
  const box = await target.filter({ visible: true }).last().boundingBox()
  const phone = page.viewportSize()
  if (!box || !phone) return [`${action} is not there`]
  const found = []
  if (box.y + box.height > phone.height) found.push(`${action} is below the screen's end`)
  if (box.y + box.height / 2 < phone.height / 2) found.push(`${action} is in the upper half`)
  if (box.x + box.width / 2 < phone.width / 3) found.push(`${action} is in the left third`)
  return found
}

interface Phone {
  width: number
  height: number
  letters: number
  bars: Insets
}

/** A phone with its default settings, and with the hardest ones. */
function phone(width: number, height: number): { plain: Phone; hard: Phone } {
  return {
    plain: { width, height, letters: 1, bars: UNCOVERED },
    hard: { width, height, letters: LARGE, bars: BARS },
  }
}

/** Phones in CSS pixels, from the smallest in use to the largest. */
const SMALLEST = phone(320, 568)
const USUAL = phone(390, 844)
const ALL = [SMALLEST, phone(360, 640), USUAL, phone(430, 932)].flatMap(({ plain, hard }) => [plain, hard])
/** On a laptop the app is a phone in the middle of the screen. */
const LAPTOP = phone(1280, 800).plain
/** `make phones` tries every phone; `make test` has time for the hardest one and the most common one. */
const PHONES = ALL_SIZES ? [...ALL, LAPTOP] : [SMALLEST.hard, USUAL.plain]

/** These themes differ from the first one (light, normal contrast) only in colours. */
const OTHER_LOOKS = [
  { colorScheme: 'light', contrast: 'more' },
  { colorScheme: 'dark', contrast: 'no-preference' },
  { colorScheme: 'dark', contrast: 'more' },
] as const

/** Turns all transitions off. Even without motion each box has one, which starts only when that of the box around it has ended. */
const atOnce = (page: Page) =>
  page.addStyleTag({ content: '*, ::before, ::after { transition: none !important }' })

/** The faults of the screen on any of the phones. */
async function faultsOnPhones(page: Page, action?: string | RegExp): Promise<string[]> {
  const found: string[] = []
  for (const { width, height, letters, bars } of PHONES) {
    await page.setViewportSize({ width, height })
    await enlarge(page, letters)
    await cover(page, bars)
    await still(page)
    const wrong = await faults(page, bars)
    if (action && width < LAPTOP.width) wrong.push(...(await outOfReach(page, action)))
    found.push(...wrong.map((what) => `${width}×${height}, letters ${letters}: ${what}`))
  }
  return found
}

// Opened on a translated page, which the app must stand, and then looked at as the app has made it. `make phones` has time to do the two
// apart (translated.spec.ts).
for (const screen of screens) {
  const fine = 'fine on phones, with larger letters and more contrast'
  test(
    ALL_SIZES ? `${screen.name} is ${fine}` : `${screen.name} stands on a translated page, and is ${fine}`,
    async ({ page }) => {
      if (!ALL_SIZES) await translate(page)
      await open(page, screen)
      if (!ALL_SIZES) await untranslate(page)
      await atOnce(page)
      await still(page)
      await expectAccessible(page)
      for (const look of OTHER_LOOKS) {
        await page.emulateMedia(look)
        await still(page)
        await test.step(`axe, ${JSON.stringify(look)}`, () => expectAccessible(page, 'color-contrast'))
      }
      expect(await faultsOnPhones(page, screen.action)).toEqual([])
    },
  )
}
