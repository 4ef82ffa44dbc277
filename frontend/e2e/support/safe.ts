import type { Page } from '@playwright/test'

/** The sentence that is allowed only for a payment that has surely taken nothing. */
export const SAFE = 'Saldo Anda tidak terpotong.'

/** Watches this page for the sentence until it is reloaded; the returned function says whether it ever appeared. */
export async function watchForSafe(page: Page): Promise<() => Promise<boolean>> {
  await page.evaluate((safe) => {
    const look = () => document.body.textContent?.includes(safe) && Object.assign(window, { shownSafe: true })
    new MutationObserver(look).observe(document.body, { subtree: true, childList: true, characterData: true })
  }, SAFE)
  return () => page.evaluate(() => 'shownSafe' in window)
}
