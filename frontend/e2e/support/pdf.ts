import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { chromium } from '@playwright/test'
import { CHROMIUM_ARGS, WHOLE_CHROMIUM } from './chromium.ts'
import { readAllQr } from './qr.ts'
import { expect } from './test.ts'

/** A4 at 200 dots an inch. */
const [WIDTH, HEIGHT] = [1_654, 2_339]
/** The grey that the browser's viewer leaves around a page, in pixels. */
const AROUND = 24

/** The texts of the QR codes on each page of a PDF of A4, as a reader sees them at 200 dpi. The browser's own viewer draws the pages. */
export async function codesOf(pdf: Buffer, codes: readonly number[], folder: string): Promise<string[][]> {
  mkdirSync(folder, { recursive: true })
  const file = join(folder, 'pages.pdf')
  writeFileSync(file, pdf)
  // The headless shell has no viewer.
  const browser = await chromium.launch({ executablePath: WHOLE_CHROMIUM, args: CHROMIUM_ARGS })
  try {
    const pages: string[][] = []
    for (const [i, count] of codes.entries()) {
      const viewer = await browser.newPage({ viewport: { width: WIDTH + AROUND, height: HEIGHT + AROUND } })
      await viewer.goto(`${pathToFileURL(file)}#toolbar=0&view=Fit&page=${i + 1}`)
      let found: string[] = []
      // The viewer does not say when it has drawn a page.
      await expect
        .poll(async () => {
          const picture = await viewer.screenshot({ path: join(folder, `page-${i + 1}.png`) })
          found = await readAllQr(picture)
          return found.length
        })
        .toBe(count)
      pages.push(found)
      await viewer.close()
    }
    return pages
  } finally {
    await browser.close()
  }
}
