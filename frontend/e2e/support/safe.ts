import type { Page } from '@playwright/test'

/** What may be said only of a payment that has surely taken nothing. */
export const SAFE = 'Saldo Anda tidak terpotong.'

/** Watches this page, until it is reloaded, for the sentence; answers whether it was ever in it. */
export async function watchForSafe(page: Page): Promise<() => Promise<boolean>> {
  await page.evaluate((safe) => {
    const look = () => document.body.textContent?.includes(safe) && Object.assign(window, { saidSafe: true })
    new MutationObserver(look).observe(document.body, { subtree: true, childList: true, characterData: true })
  }, SAFE)
  return () => page.evaluate(() => 'saidSafe' in window)
}
