import type { Locator, Page } from '@playwright/test'
import { type Customer, newCustomer, ops, topUp } from './support/api.ts'
import { expectFineScreen } from './support/axe.ts'
import { buy } from './support/buy.ts'
import { enterCode } from './support/purchase.ts'
import { expect, openAs, test } from './support/test.ts'

/** Outlet names of 29 and 60 letters, and one of 60 without a blank. */
const OUTLETS = [
  'Laundry Melati Putih Setiabudi',
  'Laundry Koin Nusantara Cabang Pasar Baru Bandung Timur Lantai',
  'x'.repeat(60),
]
const LONG_NAME = 'Siti Nurhaliza Rahmawati Kusumawardhani Prawirodirdjo Lestari'

async function longNames(outlet: string): Promise<{ customer: Customer; code: string }> {
  const { idowner } = await ops<{ idowner: number }>('owner', { nama: 'Pemilik' })
  const place = { kota: 'Bandung', latitude: -6.9, longitude: 107.6 }
  const { idoutlet } = await ops<{ idoutlet: number }>('outlet', { idowner, nama: outlet, ...place })
  await ops('layanan', { idoutlet, nama: 'Cuci Kilat', durasi: 600, harga: 8_000 })
  const machine = await ops<{ id: number; qr: string; kode: string }>('mesin', {
    idoutlet,
    nama: 'Mesin 07',
    driver: 'sim',
  })
  const customer = await newCustomer(LONG_NAME)
  await topUp(customer, idoutlet, 20_000_000)
  const world = { idowner, idoutlet, outlet, machine: { ...machine, nama: 'Mesin 07' } }
  expect((await buy(customer, world)).answer.status).toBe(200)
  return { customer, code: machine.kode }
}

/** The number of lines that a text takes. */
const lines = (text: Locator) =>
  text.evaluate((node) => {
    const range = document.createRange()
    range.selectNodeContents(node)
    const shown = node.getBoundingClientRect()
    const tops = [...range.getClientRects()].filter(({ top }) => top < shown.bottom - 4).map(({ top }) => top)
    return tops.sort((a, b) => a - b).filter((top, i) => i === 0 || top - (tops[i - 1] ?? 0) > 8).length
  })

async function inside(page: Page, node: Locator): Promise<void> {
  const box = await node.boundingBox()
  expect(box?.x).toBeGreaterThanOrEqual(0)
  expect((box?.x ?? 0) + (box?.width ?? 0)).toBeLessThanOrEqual(page.viewportSize()?.width ?? 0)
}

for (const outlet of OUTLETS) {
  test(`${outlet.length} letters of ${outlet.slice(0, 7)}… stay on a narrow phone`, async ({ page }) => {
    await page.setViewportSize({ width: 320, height: 568 })
    const { customer, code } = await longNames(outlet)

    await openAs(page, customer)
    const card = page.getByRole('region', { name: 'Daftar saldo E-Pay' }).getByRole('article')
    await expect(card).toContainText(outlet)
    await inside(page, card)
    await inside(page, card.getByRole('button', { name: /Info outlet/ }))
    await inside(page, card.getByText('Rp 19.992.000'))
    const greeting = page.getByRole('heading', { level: 1 }).locator('..')
    await expect(greeting).toContainText('Halo,')
    expect(await lines(greeting)).toBeLessThanOrEqual(2)
    expect((await greeting.boundingBox())?.height).toBeLessThanOrEqual(70)
    await expectFineScreen(page)
    await card.getByRole('button', { name: /Info outlet/ }).click()
    await inside(page, page.getByRole('button', { name: 'Tutup' }))
    await expectFineScreen(page)

    await page.goto('/riwayatPage')
    const rows = page.getByRole('main').getByRole('listitem')
    await expect(rows).toHaveCount(2)
    for (const row of await rows.all()) {
      expect(await lines(row.getByText(outlet))).toBeLessThanOrEqual(3)
      await inside(page, row.getByText(/Rp /))
    }
    await expectFineScreen(page)

    await page.goto('/scanPage')
    await enterCode(page, code)
    await expect(page).toHaveURL('/pilihLayanan')
    await expect(page.getByRole('heading', { level: 1, name: 'Pilih layanan' })).toBeVisible()
    await expectFineScreen(page)
  })
}

test('the E-Pay row gives names the whole width of a narrow phone', async ({ page }) => {
  await page.setViewportSize({ width: 320, height: 568 })
  const outlet = OUTLETS[1] ?? ''
  const { idowner } = await ops<{ idowner: number }>('owner', { nama: 'Pemilik' })
  const place = { kota: 'Kabupaten Bandung Barat', latitude: -6.9, longitude: 107.6 }
  const { idoutlet } = await ops<{ idoutlet: number }>('outlet', { idowner, nama: outlet, ...place })
  await ops('layanan', { idoutlet, nama: 'Cuci Karpet', durasi: 600, harga: 20_000_000 })
  const { kode: code } = await ops<{ kode: string }>('mesin', { idoutlet, nama: 'Mesin 07', driver: 'sim' })
  const customer = await newCustomer(LONG_NAME)
  await topUp(customer, idoutlet, 12_345_000)
  await openAs(page, customer, '/scanPage')
  await enterCode(page, code)
  await page.getByRole('button', { name: /Cuci Karpet/ }).click()
  const row = page.getByRole('main').getByRole('listitem')
  await expect(row).toContainText('Saldo kurang')
  expect(await lines(row.getByText(outlet))).toBeLessThanOrEqual(3)
  await inside(page, row.getByText('Rp 12.345.000'))
  await expectFineScreen(page)
})

for (const [width, height] of [
  [320, 568],
  [320, 480],
  [390, 844],
] as const) {
  test(`the welcome page shows both buttons at ${width}×${height}`, async ({ page }) => {
    await page.setViewportSize({ width, height })
    await page.goto('/')
    for (const name of ['Daftar', 'Masuk']) {
      await expect(page.getByRole('button', { name })).toBeInViewport({ ratio: 1 })
    }
    await expectFineScreen(page)
  })
}
