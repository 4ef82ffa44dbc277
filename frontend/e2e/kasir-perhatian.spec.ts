import type { Page } from '@playwright/test'
import { newMachine, newWorld, ops } from './support/api.ts'
import { refuseTwice } from './support/attention.ts'
import { stagedBoard } from './support/board.ts'
import { lookAtSizes } from './support/look.ts'
import { PHONE } from './support/sizes.ts'
import { expect, test } from './support/test.ts'
import {
  button,
  callAt,
  enter,
  openAsOwner,
  readyShop,
  type Shop,
  sessionOf,
  TABLET,
} from './support/till.ts'

test.use({ viewport: TABLET })

const SERVICES = [{ nama: 'Cuci Reguler', durasi: 2_100, harga: 15_000 }]
const ATTENTION = '/kasir/perhatian'
const TWICE = 'Dua kali menolak menyala dalam satu jam.'

async function openAttention(page: Page, url?: string): Promise<Shop> {
  const shop = await readyShop(page, { services: SERVICES, ...(url && { url }) })
  await enter(shop, 'rina', ATTENTION)
  await expect(page.getByText('Tidak ada yang perlu perhatian')).toBeVisible()
  return shop
}

const link = (page: Page) => page.getByRole('link', { name: /Perhatian$/ })
const level = (page: Page, name: string) => page.getByRole('region', { name, exact: true })

test('an entry comes, is taken by the keyboard alone, and goes with its cause; its number stands in the menu', async ({
  page,
}) => {
  const { world } = await openAttention(page)
  await expect(page.getByText(/^per \d\d\.\d\d$/)).toBeVisible()
  const repair = await refuseTwice(world)
  const section = level(page, 'Lihat sebentar lagi')
  await expect(section.getByText(TWICE)).toBeVisible()
  await expect(page.getByRole('link', { name: '1 perlu perhatian, Perhatian' })).toBeVisible()

  const take = button(page, 'Saya tangani Mesin 07')
  await page.locator('body').press('Tab')
  for (let steps = 0; steps < 20; steps++) {
    if (await take.evaluate((node) => node === document.activeElement)) break
    await page.keyboard.press('Tab')
  }
  await expect(take).toBeFocused()
  await page.keyboard.press('Enter')
  await expect(section.getByText(/^Rina ke sana, sampai \d\d\.\d\d$/)).toBeVisible()
  await expect(take).toHaveCount(0)

  // The machine itself is one step away.
  await section.getByRole('link', { name: /Mesin 07/ }).press('Enter')
  await expect(page.getByRole('complementary', { name: 'Mesin 07' })).toBeVisible()
  await expect(page.getByText('Rina ke sana', { exact: false })).toBeVisible()
  await page.keyboard.press('Escape')
  await expect(page.getByRole('complementary')).toHaveCount(0)
  await repair()
  await expect(page.getByRole('link', { name: 'Perhatian', exact: true })).toBeVisible()
  await link(page).click()
  await expect(page.getByText('Tidak ada yang perlu perhatian')).toBeVisible()
})

test('what somebody else took, or what is over, is said plainly', async ({ page }) => {
  const shop = await openAttention(page)
  const { idoutlet, world } = shop
  const other = await newMachine(idoutlet, 'Mesin 08')
  await refuseTwice(world)
  const repair = await refuseTwice(world, other.id)
  await expect(page.getByText(TWICE)).toHaveCount(2)

  const { token } = await sessionOf(shop, 'tono')
  await page.route('**/ops/v1/perhatian/tangani', async (route) => {
    await callAt(page, 'perhatian/tangani', route.request().postDataJSON(), token)
    await route.continue()
  })
  await button(page, 'Saya tangani Mesin 07').click()
  await expect(page.getByText('Mesin 07 sudah ditangani orang lain.')).toBeVisible()
  await expect(page.getByText(/^Tono ke sana, sampai/)).toBeVisible()
  await page.unroute('**/ops/v1/perhatian/tangani')

  await page.route('**/ops/v1/perhatian/tangani', async (route) => {
    await repair()
    await route.continue()
  })
  await button(page, 'Saya tangani Mesin 08').click()
  await expect(page.getByText('Mesin 08 sudah beres, tidak perlu ditangani lagi.')).toBeVisible()
  await expect(page.getByText(TWICE)).toHaveCount(1)
})

test('without network the list stays, says since when, and offers nothing that would fail', async ({
  page,
  line,
}) => {
  const { world } = await openAttention(page, line.url)
  await refuseTwice(world)
  const take = button(page, 'Saya tangani Mesin 07')
  await expect(take).toBeEnabled()
  line.cut()
  await expect(page.getByText(/^Berhenti diperbarui sejak \d\d\.\d\d$/)).toBeVisible()
  await expect(page.getByText(TWICE)).toBeVisible()
  await expect(take).toBeDisabled()
  line.mend()
  await expect(page.getByText(/^per \d\d\.\d\d$/)).toBeVisible()
  // A lost answer: a repeat gets the same one.
  await page.route('**/ops/v1/perhatian/tangani', async (route) => {
    await route.fetch()
    await route.abort()
  })
  await take.click()
  await expect(page.getByText(/Periksa koneksi/)).toBeVisible()
  await page.unroute('**/ops/v1/perhatian/tangani')
  await expect(page.getByText(/^Rina ke sana/)).toBeVisible()
})

test('a list that could not be fetched can be asked for again', async ({ page }) => {
  await page.route('**/ops/v1/perhatian', (route) =>
    route.fulfill({ status: 503, json: { status: 503, message: 'server sedang sibuk', data: null } }),
  )
  await enter(await readyShop(page), 'rina', ATTENTION)
  await expect(page.getByText('server sedang sibuk')).toBeVisible()
  await page.unroute('**/ops/v1/perhatian')
  await button(page, 'Coba lagi').click()
  await expect(page.getByText('Tidak ada yang perlu perhatian')).toBeVisible()
})

test('an owner sees the entries of all outlets, each with its outlet', async ({ page }) => {
  const world = await newWorld(SERVICES, 'Laundry Melati')
  const { idowner } = world
  const place = { kota: 'Bandung', latitude: -6.9147, longitude: 107.6098 }
  const { idoutlet } = await ops<{ idoutlet: number }>('outlet', {
    idowner,
    nama: 'Laundry Kenanga',
    ...place,
  })
  await ops('layanan', { idoutlet, ...SERVICES[0] })
  const machine = await newMachine(idoutlet, 'Kenanga 1')
  await refuseTwice(world)
  await refuseTwice({ ...world, idoutlet, outlet: 'Laundry Kenanga', machine })
  await openAsOwner(page, idowner)
  await link(page).click()
  await expect(page.getByRole('link', { name: /Mesin 07 Laundry Melati/ })).toBeVisible()
  await page.getByRole('link', { name: /Kenanga 1 Laundry Kenanga/ }).click()
  await expect(page.getByRole('complementary', { name: 'Kenanga 1' })).toBeVisible()
  await expect(page.getByLabel('Outlet')).toHaveValue(String(idoutlet))
})

test('looks well at each size', async ({ page }) => {
  await page.setViewportSize(PHONE)
  const { perhatian } = stagedBoard(1, 14, Date.now())
  const [first] = perhatian
  const more = { ...first, idmesin: null, sejak: new Date(Date.now() - 20 * 3_600_000).toISOString() }
  const entries = [
    ...perhatian,
    { ...more, jenis: 'outlet_putus', tingkat: 'merah', nama: 'Laundry Melati' },
    { ...more, jenis: 'shift', tingkat: 'abu', idshift: 4, nama: 'Tablet kasir depan dekat pintu masuk' },
  ]
  await page.route('**/ops/v1/perhatian', (route) =>
    route.fulfill({ json: { status: 200, message: 'OK', data: entries } }),
  )
  await enter(await readyShop(page), 'hadi', ATTENTION)
  await expect(level(page, 'Ke sana sekarang').getByRole('listitem')).toHaveCount(2)
  await expect(level(page, 'Bisa menunggu').getByRole('listitem')).toHaveCount(2)
  await lookAtSizes(page, 'perhatian')
  await page.route('**/ops/v1/perhatian', (route) =>
    route.fulfill({ json: { status: 200, message: 'OK', data: [] } }),
  )
  await page.reload()
  await expect(page.getByText('Tidak ada yang perlu perhatian')).toBeVisible()
  await lookAtSizes(page, 'perhatian-kosong')
})
