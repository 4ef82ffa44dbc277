import type { Page } from '@playwright/test'
import { differences, keep, whatStays } from './layout/baseline.ts'
import { type Box, measure } from './layout/measure.ts'
import { open } from './stage/open.ts'
import { screens } from './stage/screens.ts'
import { still } from './support/still.ts'
import { expect, test } from './support/test.ts'

const WATCHED = [
  'selamat-datang',
  'masuk',
  'daftar',
  'beranda',
  'beranda-satu',
  'beranda-sepi',
  'beranda-selesai',
  'scan',
  'pilih-layanan-dipakai',
  'pilih-epay',
  'pembayaran',
  'berhasil',
  'riwayat',
  'riwayat-detail',
  'akun',
  'top-up',
]
/** One font narrower and one wider than the app's own. `monospace` alone would also have smaller letters. */
const WIDE = 'monospace, serif'
const OTHER_FONTS = ['serif', WIDE]

async function openNamed(page: Page, name: string): Promise<void> {
  const screen = screens.find((one) => one.name === name)
  if (!screen) throw new Error(`there is no screen ${name}`)
  await open(page, screen)
}

/** The boxes of the page with these style rules added. */
async function measureWith(page: Page, rules: string): Promise<Box[]> {
  const style = await page.addStyleTag({ content: rules })
  await still(page)
  const boxes = await measure(page)
  await style.evaluate((node) => node.parentNode?.removeChild(node))
  return boxes
}

const inFont = (font: string) => `*, ::before, ::after { font-family: ${font} !important }`

test.use({ viewport: { width: 390, height: 844 } })

test.describe('things are where they were', () => {
  for (const name of WATCHED) {
    test(name, async ({ page }) => {
      await openNamed(page, name)
      const boxes = await measure(page)
      if (process.env.KEEP_LAYOUT) {
        const others = []
        for (const font of OTHER_FONTS) others.push(await measureWith(page, inFont(font)))
        keep(name, whatStays([boxes, ...others]))
      }
      expect(differences(name, boxes)).toEqual([])
    })
  }
})

test('another font is no difference; a padding, a gap, a size and the order are', async ({ page }) => {
  await openNamed(page, 'pilih-epay')
  const after = async (rules: string) => differences('pilih-epay', await measureWith(page, rules))
  expect(await after(inFont(WIDE))).toEqual([])
  expect(await after(inFont('cursive'))).toEqual([])
  expect(await after('main li > button { padding-left: 20px !important }')).not.toEqual([])
  expect(await after('main section { margin-bottom: 4px !important }')).not.toEqual([])
  expect(await after('main header { min-height: 60px !important }')).not.toEqual([])
  expect(await after('main ul { margin-inline: 4px !important }')).not.toEqual([])
  expect(await after('main li { width: 200px !important }')).not.toEqual([])
  await page.evaluate(() => {
    const first = document.querySelector('main li')
    first?.parentNode?.append(first)
  })
  expect(await after('main {}')).toEqual(['the same things in another order'])
})
