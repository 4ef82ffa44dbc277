import type { Page } from '@playwright/test'
import { balance, type Customer, newCustomer, newWorld, scan, topUp, type World } from './support/api.ts'
import { buy } from './support/buy.ts'
import { lookAtSizes } from './support/look.ts'
import { PHONE } from './support/sizes.ts'
import { expect, test } from './support/test.ts'
import { button, callAt, enter, openAsOwner, readyShop, type Shop, TABLET, tokenOf } from './support/till.ts'

test.use({ viewport: TABLET })

const SERVICES = [{ nama: 'Cuci Reguler', durasi: 2_100, harga: 15_000 }]
/** The list of what needs a person. */
const ATTENTION = '/kasir/perhatian'
const NOTE = 'Airnya tidak keluar sama sekali.'

interface Reported {
  shop: Shop
  customer: Customer
  receipt: string
}

/** Siti's wash went wrong, and she says so in the app. */
async function complain(world: World, catatan: string | null = NOTE) {
  const customer = await newCustomer('Siti Rahma')
  await topUp(customer, world.idoutlet, 50_000)
  const { receiptNumber: id } = await buy(customer, world)
  const body = { id, alasan: 'berhenti', ...(catatan && { catatan }) }
  const { status, message } = await scan('transaksi/masalah', body, customer.token)
  if (status !== 200) throw new Error(`masalah: ${status} ${message}`)
  return { customer, receipt: id }
}

/** A supervisor sees the complaint among what needs a person. */
async function openComplaint(page: Page, catatan: string | null = NOTE): Promise<Reported> {
  const shop = await readyShop(page, { services: SERVICES })
  const reported = await complain(shop.world, catatan)
  await enter(shop, 'hadi', ATTENTION)
  await entry(page).click()
  await expect(dialog(page).getByText('Mesin berhenti di tengah')).toBeVisible()
  return { shop, ...reported }
}

const entry = (page: Page) => page.getByRole('button', { name: /^Mesin 07.*Pelanggan melapor/ })
const dialog = (page: Page) => page.getByRole('dialog', { name: 'Keluhan di Mesin 07' })

/** What the customer reads of the answer. */
async function answerOf({ customer, receipt }: Pick<Reported, 'customer' | 'receipt'>) {
  const path = `transaksi/get_detail_snap_transaksi/${receipt}`
  const { data } = await scan<{ keluhan: Record<string, unknown> | null }>(path, undefined, customer.token)
  return data.keluhan
}

test('a supervisor sees the evidence and gives the money back', async ({ page }) => {
  const reported = await openComplaint(page)
  await expect(dialog(page).getByText(NOTE)).toBeVisible()
  await expect(dialog(page).getByText(reported.receipt)).toBeVisible()
  await expect(
    dialog(page)
      .getByRole('list')
      .getByText(/Cuci Reguler/)
      .first(),
  ).toBeVisible()
  await expect(
    dialog(page).getByText('Bulan ini uang kembali 0 kali ke pelanggan ini, 0 kali di mesin ini.'),
  ).toBeVisible()
  await button(page, 'Kembalikan Rp 15.000').click()
  await expect(page.getByText('Rp 15.000 kembali ke saldo pelanggan. Pelanggan diberi tahu.')).toBeVisible()
  await expect(entry(page)).toHaveCount(0)
  expect(await balance(reported.customer)).toBe(50_000)
  expect(await answerOf(reported)).toMatchObject({ status: 'diterima', nominal: 15_000 })
})

test('a part goes back', async ({ page }) => {
  const reported = await openComplaint(page)
  await button(page, 'Ubah jumlah').click()
  await page.keyboard.type('5000')
  await page.keyboard.press('Enter')
  await button(page, 'Kembalikan Rp 5.000').click()
  await expect(page.getByText(/^Rp 5\.000 kembali ke saldo pelanggan/)).toBeVisible()
  expect(await balance(reported.customer)).toBe(40_000)
  expect(await answerOf(reported)).toMatchObject({ status: 'diterima', nominal: 5_000 })
})

test('a complaint is rejected with a sentence that is not lost by a slip', async ({ page }) => {
  const reported = await openComplaint(page, null)
  await button(page, 'Tolak').click()
  await button(page, 'Tolak laporan').click()
  await expect(dialog(page).getByText('Tulis jawabannya')).toBeVisible()
  await dialog(page).getByLabel('Jawaban untuk pelanggan').fill('Mesin mencuci sampai selesai.')
  await page.keyboard.press('Escape')
  await page
    .getByRole('dialog', { name: 'Buang yang sudah diisi?' })
    .getByRole('button', { name: 'Lanjut mengisi' })
    .click()
  await button(page, 'Tolak laporan').click()
  await expect(page.getByText('Laporan ditolak, pelanggan diberi tahu.')).toBeVisible()
  await expect(entry(page)).toHaveCount(0)
  expect(await balance(reported.customer)).toBe(35_000)
  expect(await answerOf(reported)).toMatchObject({
    status: 'ditolak',
    jawaban: 'Mesin mencuci sampai selesai.',
  })
})

test('what somebody else answered meanwhile is said plainly', async ({ page }) => {
  const { shop } = await openComplaint(page)
  const token = await tokenOf(page)
  const list = await page.request.get(`/ops/v1/keluhan?status=terbuka&idoutlet=${shop.idoutlet}`, {
    headers: { authorization: `Bearer ${token}` },
  })
  const { data } = (await list.json()) as { data: { baris: { idkeluhan: number }[] } }
  await callAt(page, `keluhan/${data.baris[0]?.idkeluhan}/tolak`, { kalimat: 'Sudah dicek.' }, token)
  await button(page, 'Kembalikan Rp 15.000').click()
  await expect(dialog(page).getByText('Laporan sudah dijawab')).toBeVisible()
})

test('a cashier only sees that there is one', async ({ page }) => {
  const shop = await readyShop(page, { services: SERVICES })
  await complain(shop.world)
  await enter(shop, 'rina', ATTENTION)
  await expect(page.getByText(/^Pelanggan melapor ada masalah sejak/)).toBeVisible()
  await expect(entry(page)).toHaveCount(0)
})

test('an owner answers from a phone', async ({ page }) => {
  await page.setViewportSize({ width: 390, height: 844 })
  const world = await newWorld(SERVICES)
  const reported = await complain(world)
  await openAsOwner(page, world.idowner)
  await page.getByRole('link', { name: /Perhatian$/ }).click()
  await entry(page).click()
  await button(page, 'Kembalikan Rp 15.000').click()
  await expect(page.getByText(/^Rp 15\.000 kembali ke saldo pelanggan/)).toBeVisible()
  expect(await answerOf(reported)).toMatchObject({ status: 'diterima' })
})

test('looks well at each size', async ({ page }) => {
  await page.setViewportSize(PHONE)
  await openComplaint(page)
  await lookAtSizes(page, 'keluhan')
  await button(page, 'Tolak').click()
  await lookAtSizes(page, 'keluhan-tolak')
  await button(page, 'Kembali').click()
  await button(page, 'Ubah jumlah').click()
  await lookAtSizes(page, 'keluhan-jumlah')
})
