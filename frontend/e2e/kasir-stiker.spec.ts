import type { Page } from '@playwright/test'
import { newCustomer, ops, scan } from './support/api.ts'
import { expectFineScreen } from './support/axe.ts'
import { lookAtSizes } from './support/look.ts'
import { dialog, openManagement, readOps, said } from './support/manage.ts'
import { codesOf } from './support/pdf.ts'
import { PHONE } from './support/sizes.ts'
import { expect, test } from './support/test.ts'
import { button, type Shop, TABLET } from './support/till.ts'

interface Sticker {
  nama: string
  kode: string
  qr: string
}

/** A shop of fifteen machines whose supervisor is at the stickers; the browser's print dialog stays closed. */
async function openStickers(page: Page): Promise<{ shop: Shop; ids: number[] }> {
  await page.addInitScript(() => {
    window.print = () => document.documentElement.setAttribute('data-printed', '')
  })
  const shop = await openManagement(page)
  await ops('mesin/bulk', { idoutlet: shop.idoutlet, jumlah: 13, awalan: 'Cuci', angka: 2 })
  await ops('mesin', { idoutlet: shop.idoutlet, nama: 'Pengering Ukuran Paling Besar Dekat Pintu Belakang' })
  await button(page, 'Stiker').press('Enter')
  const { mesin } = await readOps<{ mesin: { id: number }[] }>(`mesin?idoutlet=${shop.idoutlet}`)
  return { shop, ids: mesin.map(({ id }) => id) }
}

const printed = (page: Page) => expect(page.locator('html[data-printed]')).toBeAttached()

test.use({ viewport: TABLET })

test('a printed A4 page has ten stickers that a reader reads at 200 dpi, cut marks and a ruler', async ({
  page,
}, info) => {
  const { ids } = await openStickers(page)
  await button(page, 'Cetak 15 stiker, 2 lembar').press('Enter')
  await printed(page)
  await page.emulateMedia({ media: 'print' })
  const ruler = page.getByText('100 mm', { exact: true }).first().locator('..')
  await expect(ruler).toContainText('cetak 100 %')
  const mm = (await ruler.evaluate((node) => node.getBoundingClientRect().width)) / (96 / 25.4)
  expect(mm).toBeCloseTo(100, 1)
  const pdf = await page.pdf({ preferCSSPageSize: true })
  await page.emulateMedia({ media: null })
  const text = pdf.toString('latin1')
  // A4 in points, to the edge.
  expect(text.match(/\/MediaBox\s*\[0 0 59[45][.\d]* 84[12][.\d]*\]/g)).toHaveLength(2)
  await test.step('the codes', async () => {
    const pages = await codesOf(pdf, [10, 5], info.outputDir)
    const stickers = [
      ...(await readOps<Sticker[]>(`stiker?id=${ids.slice(0, 10).join(',')}`)),
      ...(await readOps<Sticker[]>(`stiker?id=${ids.slice(10).join(',')}`)),
    ]
    const wanted = stickers.map(({ qr }) => qr)
    expect(pages.map((page) => [...page].sort())).toEqual([
      wanted.slice(0, 10).sort(),
      wanted.slice(10).sort(),
    ])
  })
})

test('machines are chosen by the keyboard, and nothing is printed without one or without network', async ({
  page,
}) => {
  await openStickers(page)
  await button(page, 'Kosongkan pilihan').press('Enter')
  await expect(button(page, 'Pilih mesinnya dulu')).toBeDisabled()
  await page.getByRole('checkbox', { name: 'Cuci 03' }).press('Space')
  await page.getByRole('checkbox', { name: 'Cuci 05' }).press('Space')
  await page.route('**/ops/v1/stiker?*', (route) =>
    route.fulfill({ status: 404, json: { status: 404, message: 'Mesin Not found', data: null } }),
  )
  await button(page, 'Cetak 2 stiker, 1 lembar').press('Enter')
  await said(page, 'Mesin Not found')
  await page.unroute('**/ops/v1/stiker?*')
  expect(await page.locator('html[data-printed]').count()).toBe(0)
  await button(page, 'Cetak 2 stiker, 1 lembar').press('Enter')
  await printed(page)
  await page.context().setOffline(true)
  await expect(button(page, 'Cetak 2 stiker, 1 lembar')).toBeDisabled()
})

test('a sticker is renewed with a reason; the old code leads nowhere, also after a lost answer', async ({
  page,
}) => {
  const { shop } = await openStickers(page)
  const { token } = await newCustomer()
  const { kode } = shop.world.machine
  const search = { qr: kode, limit: 1, skip: 0, search: '' }
  const status = async () => (await scan('transaksi/get_layanan', search, token)).status
  expect(await status()).toBe(200)
  await button(page, 'Ganti stiker Mesin 07').press('Enter')
  const form = dialog(page, 'Ganti stiker Mesin 07')
  await expect(form.getByRole('button', { name: 'Ganti stiker', exact: true })).toBeDisabled()
  await form.getByRole('button', { name: 'Lainnya' }).press('Enter')
  await expect(form).toContainText('Tulis alasannya dulu.')
  await form.getByRole('button', { name: 'Disalin orang' }).press('Enter')
  await expectFineScreen(page)
  await page.route('**/ops/v1/mesin/*/stiker', async (route) => {
    await route.fetch()
    await route.abort()
  })
  await form.getByRole('button', { name: 'Ganti stiker', exact: true }).press('Enter')
  await expect(form).toContainText('Belum terjawab')
  expect(await status()).toBe(404)
  // The unanswered call is kept over a reload, and asked again.
  await page.unroute('**/ops/v1/mesin/*/stiker')
  await page.reload()
  await said(
    page,
    'Sudah terjadi: Stiker Mesin 07 yang lama tidak bisa dipindai lagi. Cetak dan tempel yang baru.',
  )

  await button(page, 'Ganti stiker Mesin 07').press('Enter')
  await form.getByRole('button', { name: 'Stiker rusak' }).press('Enter')
  await form.getByRole('button', { name: 'Ganti stiker', exact: true }).press('Enter')
  await said(page, 'Stiker Mesin 07 sudah diganti. Cetak dan tempel yang baru.')
  await button(page, 'Cetak 1 stiker, 1 lembar').press('Enter')
  await printed(page)
})

test('stickers look well at each size', async ({ page }) => {
  await page.setViewportSize(PHONE)
  await openStickers(page)
  await expect(page.getByRole('checkbox', { name: 'Cuci 03' })).toBeChecked()
  await lookAtSizes(page, 'stiker')
  await button(page, 'Ganti stiker Cuci 03').press('Enter')
  await lookAtSizes(page, 'stiker-ganti')
})
