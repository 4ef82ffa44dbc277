import { readFileSync } from 'node:fs'
import type { Page } from '@playwright/test'
import { newCustomer, topUp } from './support/api.ts'
import { buy } from './support/buy.ts'
import { plus, stagedDays, stagedShifts, stagedSummary } from './support/figures.ts'
import { lookAtSizes } from './support/look.ts'
import { PHONE } from './support/sizes.ts'
import { expect, test } from './support/test.ts'
import { button, enter, readyShop, type Shop, TABLET } from './support/till.ts'

test.use({ viewport: TABLET })

/** Answers the page's calls with staged figures; `asked` are the days that it asked for. */
async function stage(page: Page): Promise<string[]> {
  const asked: string[] = []
  const answer = (data: unknown) => ({ json: { status: 200, message: 'OK', data } })
  await page.route(/\/ops\/v1\/(ringkasan|laporan)/, (route) => {
    const url = new URL(route.request().url())
    const [dari, sampai] = [url.searchParams.get('dari') ?? '', url.searchParams.get('sampai') ?? '']
    const call = url.pathname.replace('/ops/v1/', '')
    asked.push(`${call} ${dari} ${sampai}`)
    if (call === 'ringkasan') return route.fulfill(answer(stagedSummary(dari, sampai)))
    const baris = call === 'laporan/shift' ? stagedShifts(dari) : stagedDays(dari, sampai)
    return route.fulfill(answer({ dari, sampai, baris, lanjut: null }))
  })
  return asked
}

const SUMMARY = '/kasir/ringkasan'

async function openSummary(page: Page, url?: string): Promise<Shop> {
  const shop = await readyShop(page, { outlet: 'Laundry Melati', ...(url && { url }) })
  await enter(shop, 'hadi', SUMMARY)
  return shop
}

const hero = (page: Page, name: RegExp) => page.getByRole('region', { name })
/** The outlet's day. */
const today = () => new Date(Date.now() + 7 * 3_600_000).toISOString().slice(0, 10)
const dialog = (page: Page, name: string) => page.getByRole('dialog', { name })
const choice = (page: Page, name: string) =>
  page.getByRole('group', { name: 'Hari yang dilihat' }).getByRole('button', { name, exact: true })

test('what was sold and used today is what the page and its file say', async ({ page }) => {
  const services = [{ nama: 'Cuci Reguler', durasi: 2_100, harga: 15_000 }]
  const shop = await readyShop(page, { outlet: 'Laundry Melati', services })
  const customer = await newCustomer()
  await topUp(customer, shop.idoutlet, 50_000)
  await buy(customer, shop.world)
  await enter(shop, 'hadi', SUMMARY)
  await choice(page, 'Hari ini').click()
  await expect(hero(page, /^Hari ini, .* sampai \d\d\.\d\d$/)).toContainText('Rp 15.000')
  await expect(hero(page, /^Hari ini, /)).toContainText('belum ada pembanding dari')
  await expect(page.getByRole('row', { name: /^Mesin 07/ })).toContainText('Rp 15.000')
  await expect(page.getByRole('row', { name: /^Tidak dicatat/ })).toContainText('Rp 50.000')
  await expect(page.getByRole('row', { name: /^Outlet ini/ })).toContainText('Rp 35.000')
  // A supervisor is not told of other outlets.
  await expect(page.getByRole('row', { name: /^Outlet lain/ })).toHaveCount(0)
  await button(page, 'Unduh CSV').click()
  const saved = page.waitForEvent('download')
  await dialog(page, 'Unduh laporan').getByRole('button', { name: 'Unduh laporan Harian' }).click()
  const file = await saved
  expect(file.suggestedFilename()).toBe(`harian-${shop.idoutlet}-${today()}-${today()}.csv`)
  const [head, row] = readFileSync(await file.path(), 'utf8').split('\r\n')
  expect(head).toBe(
    '\uFEFFtanggal;pendapatan;siklus;topup_tunai;topup_qris;topup_transfer;topup_lain;batal;refund;selisih_kas;menit_mati',
  )
  expect(row).toBe(`${today()};15000;1;0;0;0;50000;0;0;0;0`)
})

test('the figures of yesterday come first, with one sentence; other days are chosen by the keyboard alone', async ({
  page,
}) => {
  const asked = await stage(page)
  await openSummary(page)
  const before = plus(today(), -1)
  await expect(hero(page, /^Kemarin, /)).toContainText(
    /lebih dari \w+ lalu, Cuci 08 mati 24 jam, 2 mesin lain juga mati\./,
  )
  await expect(hero(page, /^Hari ini sampai/)).toBeVisible()
  await expect(hero(page, /^Minggu ini sampai/)).toBeVisible()
  expect(asked).toContain(`ringkasan ${before} ${before}`)
  // The worst machines first, then the others by their cycles.
  const rows = page.getByRole('region', { name: 'Mesin' }).getByRole('rowheader')
  await expect(rows.nth(1)).toHaveText('Cuci 08')
  await expect(rows.nth(2)).toHaveText('Pengering 06')

  const tables = page.getByRole('button', { name: 'Lihat tabel, Pendapatan per hari' })
  await tables.press('Enter')
  await expect(page.getByRole('table', { name: 'Pendapatan per hari' }).getByRole('row')).toHaveCount(15)
  await page.getByRole('button', { name: 'Tutup tabel, Pendapatan per hari' }).press('Enter')
  await expect(page.getByRole('table', { name: 'Pendapatan per hari' })).toBeHidden()

  await choice(page, '7 hari').press('Enter')
  await expect(choice(page, '7 hari')).toHaveAttribute('aria-pressed', 'true')
  await expect(page.getByText(/dari 7 hari sebelumnya/)).toBeVisible()
  expect(asked).toContain(`ringkasan ${plus(today(), -6)} ${today()}`)
  await expect(page.getByRole('columnheader', { name: /^Jam/ })).toHaveCount(0)
  // A reload keeps the days.
  await page.reload()
  await expect(choice(page, '7 hari')).toHaveAttribute('aria-pressed', 'true')

  await page.getByRole('link', { name: /^Pengering 06/ }).press('Enter')
  await expect(page.getByRole('heading', { name: 'Mesin', level: 1 })).toBeVisible()
})

test('days that the server would refuse are refused at the field', async ({ page }) => {
  const asked = await stage(page)
  await openSummary(page)
  await choice(page, 'Pilih tanggal').press('Enter')
  const form = dialog(page, 'Pilih tanggal')
  const show = async (from: string, until: string) => {
    await form.getByLabel('Dari tanggal').fill(from)
    await form.getByLabel('Sampai tanggal').fill(until)
    await form.getByRole('button', { name: 'Tampilkan' }).press('Enter')
  }
  await show('', today())
  await expect(form.getByRole('alert')).toHaveText('Isi tanggalnya')
  await show(today(), plus(today(), -1))
  await expect(form.getByRole('alert')).toHaveText('Tanggal ini sebelum tanggal awal')
  await show(today(), plus(today(), 1))
  await expect(form.getByRole('alert')).toHaveText('Tanggal ini belum sampai')
  await show(plus(today(), -92), today())
  await expect(form.getByRole('alert')).toHaveText('Paling banyak 92 hari')
  await show(plus(today(), -91), today())
  await expect(form).toHaveCount(0)
  expect(asked).toContain(`ringkasan ${plus(today(), -91)} ${today()}`)
  // An address that somebody changed shows yesterday.
  await page.goto(page.url().replace(/dari=[^&]*/, 'dari=2020-01-01'))
  await expect(hero(page, /^Kemarin, /)).toBeVisible()
})

test('a refusal and a lost network are said, and what is shown stays', async ({ page, line }) => {
  await stage(page)
  await page.route('**/ops/v1/ringkasan*', (route) =>
    route.fulfill({ status: 422, json: { status: 422, message: 'paling banyak 92 hari', data: null } }),
  )
  await openSummary(page, line.url)
  await expect(page.getByText('paling banyak 92 hari')).toBeVisible()
  await page.unroute('**/ops/v1/ringkasan*')
  await button(page, 'Coba lagi').click()
  await expect(hero(page, /^Kemarin, /)).toBeVisible()
  line.cut()
  await expect(page.getByText(/^Berhenti diperbarui sejak \d\d\.\d\d$/)).toBeVisible()
  await expect(hero(page, /^Kemarin, /)).toBeVisible()
  await button(page, 'Unduh CSV').click()
  await expect(
    dialog(page, 'Unduh laporan').getByRole('button', { name: 'Unduh laporan Harian' }),
  ).toBeDisabled()
  line.mend()
  await expect(
    dialog(page, 'Unduh laporan').getByRole('button', { name: 'Unduh laporan Harian' }),
  ).toBeEnabled()
})

test('a report is a file; a refused one says why', async ({ page }) => {
  await stage(page)
  const { idoutlet } = await openSummary(page)
  await expect(hero(page, /^Kemarin, /)).toBeVisible()
  await button(page, 'Unduh CSV').press('Enter')
  const sheet = dialog(page, 'Unduh laporan')
  const before = plus(today(), -1)
  await page.route('**/ops/v1/laporan/mesin*', (route) =>
    route.fulfill({ status: 503, json: { status: 503, message: 'server sedang sibuk', data: null } }),
  )
  await sheet.getByRole('button', { name: 'Unduh laporan Mesin' }).press('Enter')
  await expect(sheet.getByRole('alert')).toContainText('Server sedang sibuk')
  const text = '\uFEFFtanggal;pendapatan\r\n2026-11-24;1\r\n'
  await page.route('**/ops/v1/laporan/harian*', (route) =>
    route.fulfill({ contentType: 'text/csv; charset=utf-8', body: text }),
  )
  const saved = page.waitForEvent('download')
  await sheet.getByRole('button', { name: 'Unduh laporan Harian' }).press('Enter')
  const file = await saved
  expect(file.suggestedFilename()).toBe(`harian-${idoutlet}-${before}-${before}.csv`)
  expect(readFileSync(await file.path(), 'utf8')).toBe(text)
  await expect(page.getByText('Laporan Harian sudah diunduh.')).toBeVisible()
})

test('on paper are the figures and all tables, in dark colours on white', async ({ page }) => {
  await stage(page)
  await openSummary(page)
  await expect(hero(page, /^Kemarin, /)).toBeVisible()
  await page.emulateMedia({ media: 'print', colorScheme: 'dark' })
  await expect(page.getByRole('navigation')).toBeHidden()
  await expect(button(page, 'Unduh CSV')).toBeHidden()
  await expect(page.getByRole('table', { name: 'Pendapatan per hari' })).toBeVisible()
  await expect(page.getByRole('table', { name: 'Jam per mesin' })).toBeVisible()
  const colours = await page.getByRole('region', { name: 'Mesin' }).evaluate((node) => {
    const { backgroundColor, color } = getComputedStyle(node)
    return [backgroundColor, color]
  })
  expect(colours).toEqual(['rgb(255, 255, 255)', 'rgb(22, 32, 43)'])
  if (process.env.E2E_SHOTS)
    await page.pdf({ path: `${process.env.E2E_SHOTS}/ringkasan.pdf`, format: 'A4', printBackground: true })
})

test('looks well at each size', async ({ page }) => {
  await page.setViewportSize(PHONE)
  await stage(page)
  await openSummary(page)
  await expect(hero(page, /^Kemarin, /)).toBeVisible()
  await lookAtSizes(page, 'ringkasan')
  await choice(page, 'Bulan ini').click()
  await expect(choice(page, 'Bulan ini')).toHaveAttribute('aria-pressed', 'true')
  await expect(page.getByRole('img', { name: /Pendapatan per hari/ })).toBeVisible()
  await lookAtSizes(page, 'ringkasan-bulan')
  await choice(page, 'Pilih tanggal').click()
  await expect(dialog(page, 'Pilih tanggal')).toBeVisible()
  await lookAtSizes(page, 'ringkasan-tanggal')
  await page.keyboard.press('Escape')
  await button(page, 'Unduh CSV').click()
  await expect(dialog(page, 'Unduh laporan')).toBeVisible()
  await lookAtSizes(page, 'ringkasan-unduh')
})
