import type { Page } from '@playwright/test'
import { newCustomer } from './support/api.ts'
import { expect, test } from './support/test.ts'
import { button, findByNumber, openTill, PIN, TABLET } from './support/till.ts'

test.use({ viewport: TABLET })

const POINTS_PER_MM = 72 / 25.4

/** Counts the pages that a printer would have received, and keeps their `@page`. */
async function countPapers(page: Page): Promise<() => Promise<number>> {
  await page.addInitScript(() => {
    Object.assign(window, { papers: 0 })
    window.print = () => Object.assign(window, { papers: Reflect.get(window, 'papers') + 1 })
  })
  return () => page.evaluate(() => Reflect.get(window, 'papers') as number)
}

async function sell(page: Page, name: string): Promise<void> {
  await findByNumber(page, await newCustomer(name))
  await button(page, 'Rp 50.000').click()
  await page.getByRole('button', { name: /^Isi Rp 50\.000 untuk / }).click()
  await expect(page.getByText('sudah masuk')).toBeVisible()
}

test('a receipt is one page of 58 mm, as high as what is on it; by itself only when that is switched on', async ({
  page,
}) => {
  const papers = await countPapers(page)
  await openTill(page, { outlet: 'Laundry Melati' })
  await sell(page, 'Siti Rahma')
  expect(await papers()).toBe(0)
  await button(page, 'Cetak struk').click()
  expect(await papers()).toBe(1)

  const height_px = await page
    .getByText('TOP-UP SALDO')
    .locator('..')
    .evaluate((paper) => paper.getBoundingClientRect().height)
  const pdf = (await page.pdf({ preferCSSPageSize: true })).toString('latin1')
  expect(pdf.match(/\/Type\s*\/Page\b/g)).toHaveLength(1)
  const [, width = '', height = ''] = /\/MediaBox\s*\[0 0 ([\d.]+) ([\d.]+)\]/.exec(pdf) ?? []
  expect(Math.abs(Number(width) - 58 * POINTS_PER_MM)).toBeLessThan(2)
  // The receipt's lines, and a margin to tear at.
  expect(Number(height)).toBeGreaterThan((height_px * 72) / 96)
  expect(Number(height)).toBeLessThan((height_px * 72) / 96 + 10 * POINTS_PER_MM)

  await button(page, 'Pelanggan berikutnya').click()
  await findByNumber(page, await newCustomer('Budi Santoso'))
  await page.getByRole('switch', { name: 'Cetak struk' }).click()
  await button(page, 'Rp 20.000').click()
  await button(page, 'Isi Rp 20.000 untuk Budi').click()
  await expect(page.getByText('sudah masuk')).toBeVisible()
  await expect.poll(papers).toBe(2)
  // Another look at it prints nothing.
  await page.getByRole('link', { name: 'Transaksi' }).click()
  await page.getByRole('link', { name: 'Isi Saldo' }).click()
  await expect(page.getByText('Saldo Budi S. sudah masuk')).toBeVisible()
  expect(await papers()).toBe(2)
})

test('WhatsApp takes the receipt to the number that was typed', async ({ page }) => {
  await openTill(page, { outlet: 'Laundry Melati' })
  const customer = await newCustomer('Siti Rahma')
  await findByNumber(page, customer)
  await button(page, 'Rp 50.000').click()
  await button(page, 'Isi Rp 50.000 untuk Siti').click()
  const address = new URL((await page.getByRole('link', { name: 'WhatsApp' }).getAttribute('href')) ?? '')
  expect(address.origin + address.pathname).toBe(`https://wa.me/62${customer.telp}`)
  const text = address.searchParams.get('text') ?? ''
  expect(text).toContain('Top-up Laundry Melati')
  expect(text).toContain('Untuk Siti R.')
  expect(text).toContain('Saldo: Rp 50.000')
})

test('a receipt is printed and sent again from the transactions, as a copy; not one of a void top-up', async ({
  page,
}) => {
  const papers = await countPapers(page)
  await openTill(page, { outlet: 'Laundry Melati' })
  await sell(page, 'Siti Rahma')
  await button(page, 'Pelanggan berikutnya').click()
  await page.getByRole('link', { name: 'Transaksi' }).click()
  await page.getByRole('button', { name: /Siti R\./ }).click()
  const dialog = page.getByRole('dialog')
  await dialog.getByRole('button', { name: 'Cetak struk' }).click()
  expect(await papers()).toBe(1)
  const paper = page.getByText('TOP-UP SALDO (SALINAN)').locator('..')
  for (const line of ['Laundry Melati', 'Siti R.', '+Rp 50.000', 'Tunai Rp 50.000', 'Rina', 'Terima kasih'])
    await expect(paper).toContainText(line)
  const pdf = (await page.pdf({ preferCSSPageSize: true })).toString('latin1')
  expect(pdf.match(/\/Type\s*\/Page\b/g)).toHaveLength(1)

  const href = (await dialog.getByRole('link', { name: 'WhatsApp' }).getAttribute('href')) ?? ''
  const address = new URL(href)
  expect(address.origin + address.pathname).toBe('https://wa.me/')
  const text = address.searchParams.get('text') ?? ''
  expect(text).toContain('Top-up Laundry Melati')
  expect(text).toContain('Dibayar: Tunai Rp 50.000')

  await dialog.getByRole('button', { name: 'Batalkan' }).click()
  await dialog.getByRole('button', { name: 'Salah jumlah' }).click()
  await dialog.getByRole('button', { name: /^Batalkan \+/ }).click()
  await page.keyboard.type(PIN.hadi)
  await expect(page.getByText('Top-up dibatalkan')).toBeVisible()
  await expect(dialog.getByText('Kembalikan Rp 50.000 tunai dari laci kepada pelanggan.')).toBeVisible()
  await dialog.getByRole('button', { name: 'Selesai' }).click()
  await page.getByRole('button', { name: /Siti R\./ }).click()
  await expect(dialog.getByText('Dibatalkan', { exact: true })).toBeVisible()
  await expect(dialog.getByRole('button', { name: 'Cetak struk' })).toBeHidden()
})

test('one whose amounts the list leaves out is opened for its receipt', async ({ page }) => {
  const papers = await countPapers(page)
  await openTill(page, { outlet: 'Laundry Melati' })
  await sell(page, 'Siti Rahma')
  await button(page, 'Pelanggan berikutnya').click()
  // The answer of the server for an older sale, from before the count.
  let whole: Record<string, unknown> = {}
  let looks = 0
  await page.route(/\/ops\/v1\/topup(\?|$)/, async (route) => {
    const response = await route.fetch()
    const answer = (await response.json()) as { data: { baris: Record<string, unknown>[] } }
    whole = answer.data.baris[0] ?? {}
    answer.data.baris = answer.data.baris.map((row) => ({
      ...row,
      nominal: null,
      quota: null,
      nama_paket: null,
    }))
    await route.fulfill({ response, json: answer })
  })
  await page.route(/\/ops\/v1\/topup\/\d+$/, (route) => {
    looks += 1
    return route.fulfill({ json: { status: 200, message: 'OK', data: whole } })
  })
  await page.getByRole('link', { name: 'Transaksi' }).click()
  await page.getByRole('button', { name: /Siti R\./ }).click()
  const dialog = page.getByRole('dialog')
  await expect(dialog.getByText('Tunai Rp 50.000')).toBeVisible()
  await dialog.getByRole('button', { name: 'Cetak struk' }).click()
  expect(await papers()).toBe(1)
  await expect(page.getByText('TOP-UP SALDO (SALINAN)').locator('..')).toContainText('+Rp 50.000')
  expect(looks).toBe(1)
})
