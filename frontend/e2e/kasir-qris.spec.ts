import { readFileSync } from 'node:fs'
import type { Page } from '@playwright/test'
import { balance, type Customer, newCustomer } from './support/api.ts'
import { look, lookAtSizes } from './support/look.ts'
import { billMadeBy, choose, makeBill, openWith, play, takeQris } from './support/qris.ts'
import { PHONE } from './support/sizes.ts'
import { expect, test } from './support/test.ts'
import {
  amountsSold,
  button,
  callsTo,
  choosePins,
  findByNumber,
  lock,
  logIn,
  openAsOwner,
  PIN,
  TABLET,
} from './support/till.ts'

test.use({ viewport: TABLET })

const waiting = (page: Page) => page.getByRole('region', { name: 'Tagihan QRIS' })

test('while a bill waits the next customer is served, and its payment is told', async ({ page }) => {
  const { idoutlet } = await openWith(page, 'simulated')
  const siti = await newCustomer('Siti Rahma')
  const id = await makeBill(page, siti)
  await expect(page.getByText(/^Sisa waktu \d\d:\d\d$/)).toBeVisible()
  await button(page, 'Pelanggan berikutnya').click()
  const row = waiting(page).getByRole('button', { name: /Siti R\..*Rp 50\.000/ })
  await expect(row).toContainText('Sisa waktu')

  await choose(page, await newCustomer('Budi Santoso'), 'Rp 20.000', 'Tunai')
  await button(page, 'Isi Rp 20.000 untuk Budi').click()
  await expect(page.getByText('Saldo Budi S. sudah masuk')).toBeVisible()
  await page.getByRole('link', { name: 'Transaksi' }).click()
  await play(id, { aksi: 'bayar', kali: 3 })
  await expect(page.getByText('QRIS Rp 50.000 dibayar, saldo Siti R. sudah masuk.')).toBeVisible()
  await expect(page.getByRole('button', { name: /Siti R\..*QRIS/ })).toBeVisible()
  expect(await amountsSold(idoutlet)).toEqual([50_000, 20_000])

  // The receipt stays in the list until it was opened.
  await page.getByRole('link', { name: 'Isi Saldo' }).click()
  await button(page, 'Pelanggan berikutnya').click()
  await expect(row).toContainText('Sudah dibayar')
  await row.click()
  await expect(page.getByRole('heading', { name: 'Saldo Siti R. sudah masuk' })).toBeVisible()
  await expect(page.getByRole('definition').filter({ hasText: 'QRIS Rp 50.000' })).toBeVisible()
  await expect(button(page, 'Cetak struk')).toBeVisible()
  await button(page, 'Pelanggan berikutnya').click()
  await expect(page.getByText('Ketik nomor WhatsApp')).toBeAttached()
  await expect(waiting(page)).toHaveCount(0)
})

test('a bill that is looked at turns into its receipt, also when no notification comes', async ({ page }) => {
  await openWith(page, 'simulated')
  const id = await makeBill(page, await newCustomer('Siti Rahma'))
  await play(id, { aksi: 'bayar', diam: true })
  await expect(page.getByRole('heading', { name: 'Saldo Siti R. sudah masuk' })).toBeVisible()
  await expect(page.getByText('Rp 50.000').first()).toBeVisible()
  await expect(button(page, 'Batalkan')).toHaveCount(0)
})

test('a bill is cancelled, unless it is paid already, or expires', async ({ page }) => {
  const { idoutlet } = await openWith(page, 'simulated')
  const siti = await newCustomer('Siti Rahma')
  await makeBill(page, siti)
  await button(page, 'Batalkan QRIS').click()
  await expect(page.getByRole('heading', { name: 'QRIS dibatalkan' })).toBeVisible()
  const second = await billMadeBy(page, () => button(page, 'Buat QRIS lagi').click())
  await expect(page.getByRole('heading', { name: 'Menunggu pembayaran' })).toBeVisible()
  await play(second, { aksi: 'kedaluwarsa' })
  await expect(page.getByRole('heading', { name: 'QRIS kedaluwarsa' })).toBeVisible()
  await button(page, 'Kembali').click()
  await expect(button(page, 'Rp 50.000')).toHaveAttribute('aria-pressed', 'true')
  expect(await amountsSold(idoutlet)).toEqual([])

  const third = await billMadeBy(page, () => button(page, 'Tampilkan QRIS Rp 50.000').click())
  await expect(page.getByRole('heading', { name: 'Menunggu pembayaran' })).toBeVisible()
  // Paid in the very moment in which the cashier gives up.
  await page.route(`**/ops/v1/tagihan/${third}/batal`, async (route) => {
    await play(third, { aksi: 'bayar', diam: true })
    await route.continue()
  })
  await button(page, 'Batalkan QRIS').click()
  await expect(page.getByRole('heading', { name: 'Saldo Siti R. sudah masuk' })).toBeVisible()
  expect(await amountsSold(idoutlet)).toEqual([50_000])
})

test('a bill outlives a reload, a lock and another person', async ({ page }) => {
  await choosePins(await openWith(page, 'simulated'), 'tono')
  const id = await makeBill(page, await newCustomer('Siti Rahma'))
  await page.reload()
  const row = waiting(page).getByRole('button', { name: /Siti R\./ })
  await expect(row).toBeVisible()
  await lock(page)
  await logIn(page, 'Tono', PIN.tono)
  await row.click()
  await expect(page.getByRole('img', { name: 'Kode QRIS Rp 50.000' })).toBeVisible()
  await play(id, { aksi: 'bayar' })
  await expect(page.getByRole('heading', { name: 'Saldo Siti R. sudah masuk' })).toBeVisible()
})

test('a bill whose answer is lost is made once', async ({ page, line }) => {
  await openWith(page, 'simulated', line.url)
  const siti = await newCustomer('Siti Rahma')
  const bills: string[] = []
  await page.route('**/ops/v1/tagihan', async (route) => {
    const answer = await route.fetch()
    bills.push(((await answer.json()) as { data: { idtagihan: string } }).data.idtagihan)
    return bills.length > 1 ? route.fulfill({ response: answer }) : route.abort('connectionreset')
  })
  await choose(page, siti)
  await button(page, 'Tampilkan QRIS Rp 50.000').click()
  await expect(page.getByText('Belum terjawab: QRIS Rp 50.000 untuk Siti R.')).toBeVisible()
  await button(page, 'Tanyakan sekarang').click()
  await expect(page.getByRole('heading', { name: 'Menunggu pembayaran' })).toBeVisible()
  expect(new Set(bills).size).toBe(1)

  line.cut()
  await expect(page.getByText('Tidak ada sambungan. Belum diketahui apakah sudah dibayar.')).toBeVisible()
  await expect(button(page, 'Batalkan QRIS')).toBeDisabled()
  await play(bills[0] ?? '', { aksi: 'bayar' })
  line.mend()
  await expect(page.getByRole('heading', { name: 'Saldo Siti R. sudah masuk' })).toBeVisible()
})

test('without a provider the cashier copies the end of the reference', async ({ page }) => {
  const { idoutlet } = await openWith(page, 'manual')
  const sent = callsTo(page, 'topup')
  await choose(page, await newCustomer('Siti Rahma'))
  await button(page, 'Isi Rp 50.000 untuk Siti').click()
  const dialog = page.getByRole('dialog', { name: 'Pembayaran QRIS' })
  const field = dialog.getByLabel('Empat karakter terakhir nomor referensi')
  await expect(field).toBeFocused()
  await page.keyboard.type('9a')
  await page.keyboard.press('Enter')
  await expect(dialog.getByText('Tulis empat huruf atau angka')).toBeVisible()
  await page.keyboard.type('-b2')
  await expect(field).toHaveValue('9AB2')
  await button(page, 'Sudah saya lihat di aplikasi bank').click()
  await expect(page.getByRole('heading', { name: 'Saldo Siti R. sudah masuk' })).toBeVisible()
  expect(sent.map((body) => JSON.parse(body).ref_bayar)).toEqual(['9AB2'])
  expect(await amountsSold(idoutlet)).toEqual([50_000])
})

/** A sale of Rp 50.000 by QRIS up to the reference that the cashier has seen in the bank's app. */
async function typeReference(page: Page, siti: Customer): Promise<void> {
  await choose(page, siti)
  await button(page, 'Isi Rp 50.000 untuk Siti').click()
  await expect(page.getByLabel('Empat karakter terakhir nomor referensi')).toBeFocused()
  await page.keyboard.type('9ab2')
}

/** Reverses the opened top-up with a supervisor's PIN, from the button on. */
async function reverse(page: Page): Promise<void> {
  await button(page, 'Batalkan').click()
  // By keyboard: a tap where the sheet was opened counts as its second tap.
  await button(page, 'Salah pelanggan').press('Enter')
  await button(page, /^Batalkan \+/).click()
  await page.keyboard.type(PIN.hadi)
}

const RETURNED_BY_HAND =
  'Uang QRIS tetap di rekening outlet. Kembalikan Rp 50.000 kepada pelanggan, tunai atau lewat transfer. ' +
  'Kalau tunai dari laci, catat di Shift sebagai uang keluar.'

test('a reversed payment by QRIS is returned by hand: its money stays at the bank, and no drawer moves', async ({
  page,
}) => {
  const { idoutlet } = await openWith(page, 'simulated')
  const siti = await newCustomer('Siti Rahma')
  await play(await makeBill(page, siti), { aksi: 'bayar' })
  await expect(page.getByRole('heading', { name: 'Saldo Siti R. sudah masuk' })).toBeVisible()
  await page.getByRole('link', { name: 'Transaksi' }).click()
  await page.getByRole('button', { name: /Siti R\..*QRIS/ }).click()
  await reverse(page)
  await expect(page.getByText(RETURNED_BY_HAND)).toBeVisible()
  await look(page, 'qris-batal')
  await button(page, 'Selesai').click()
  expect(await balance(siti)).toBe(0)

  // The same on the receipt of a sale of which the cashier has seen the payment.
  await takeQris(idoutlet, 'manual')
  await page.reload()
  await page.getByRole('link', { name: 'Isi Saldo' }).click()
  await typeReference(page, siti)
  await button(page, 'Sudah saya lihat di aplikasi bank').click()
  await reverse(page)
  await expect(page.getByRole('heading', { name: 'Top-up dibatalkan' })).toBeVisible()
  await expect(page.getByText(RETURNED_BY_HAND)).toBeVisible()
  expect(await balance(siti)).toBe(0)

  // The drawer has what it began with.
  await lock(page)
  await logIn(page, 'Hadi', PIN.hadi)
  await page.getByRole('link', { name: 'Shift' }).click()
  await expect(page.getByText('Seharusnya di laci')).toBeVisible()
  await expect(page.getByText('Belum ada selain isi saldo tunai.')).toBeVisible()
})

test('an outlet without QRIS offers none', async ({ page }) => {
  await openWith(page, 'off')
  await findByNumber(page, await newCustomer())
  await expect(button(page, 'Transfer')).toBeVisible()
  await expect(button(page, 'QRIS')).toHaveCount(0)
})

test('the keyboard alone makes a bill, and leaves it', async ({ page }) => {
  await openWith(page, 'simulated')
  await findByNumber(page, await newCustomer('Siti Rahma'))
  await button(page, 'Rp 50.000').press('Enter')
  await button(page, 'QRIS').press('Enter')
  await button(page, 'Tampilkan QRIS Rp 50.000').press('Enter')
  const page1 = page.getByRole('region', { name: 'Menunggu pembayaran' })
  await expect(page1).toBeFocused()
  await page.keyboard.press('Tab')
  await expect(button(page, 'Pelanggan berikutnya')).toBeFocused()
  await page.keyboard.press('Tab')
  await expect(button(page, 'Batalkan QRIS')).toBeFocused()
  await button(page, 'Pelanggan berikutnya').press('Enter')
  const row = waiting(page).getByRole('button', { name: /Siti R\./ })
  await row.press('Enter')
  await expect(page1).toBeVisible()
})

test('looks well at each size', async ({ page }) => {
  await page.setViewportSize(PHONE)
  const { idoutlet } = await openWith(page, 'simulated')
  const first = await makeBill(page, await newCustomer('Siti Rahma'))
  await lookAtSizes(page, 'qris-menunggu', () =>
    expect(button(page, 'Pelanggan berikutnya')).toBeInViewport({ ratio: 0.9 }),
  )
  await button(page, 'Pelanggan berikutnya').click()
  const second = await makeBill(page, await newCustomer('Bambang Widjojo Kusumo'))
  await button(page, 'Pelanggan berikutnya').click()
  await makeBill(page, await newCustomer('Ani Wulandari'))
  await button(page, 'Pelanggan berikutnya').click()
  await play(first, { aksi: 'bayar' })
  await play(second, { aksi: 'kedaluwarsa' })
  await expect(waiting(page).getByText('Sudah dibayar')).toBeVisible()
  await expect(waiting(page).getByText('Kedaluwarsa')).toBeVisible()
  await lookAtSizes(page, 'qris-daftar')
  await waiting(page)
    .getByRole('button', { name: /Bambang/ })
    .click()
  await expect(page.getByRole('heading', { name: 'QRIS kedaluwarsa' })).toBeVisible()
  await lookAtSizes(page, 'qris-kedaluwarsa')
  await button(page, 'Pelanggan berikutnya').click()
  await waiting(page).getByRole('button', { name: /Siti/ }).click()
  await expect(page.getByRole('heading', { name: 'Saldo Siti R. sudah masuk' })).toBeVisible()
  await lookAtSizes(page, 'qris-dibayar')
  await button(page, 'Pelanggan berikutnya').click()

  await takeQris(idoutlet, 'manual')
  await page.reload()
  await typeReference(page, await newCustomer('Siti Rahma'))
  await lookAtSizes(page, 'qris-manual')
  await button(page, 'Sudah saya lihat di aplikasi bank').click()
  await reverse(page)
  await expect(page.getByRole('heading', { name: 'Top-up dibatalkan' })).toBeVisible()
  await lookAtSizes(page, 'qris-manual-batal')
})

test('an owner chooses how the outlet takes QRIS, and has its report', async ({ page }) => {
  const { idoutlet, world } = await openWith(page, 'simulated')
  const id = await makeBill(page, await newCustomer('Siti Rahma'))
  await play(id, { aksi: 'bayar' })
  await expect(page.getByRole('heading', { name: 'Saldo Siti R. sudah masuk' })).toBeVisible()

  await openAsOwner(page, world.idowner)
  await page.getByRole('link', { name: 'Kelola' }).click()
  await button(page, 'Outlet').click()
  await expect(page.getByText('Simulasi')).toBeVisible()
  await button(page, 'Ubah data outlet').click()
  const form = page.getByRole('dialog', { name: 'Data outlet' })
  await form.getByRole('button', { name: 'Lewat Midtrans' }).press('Enter')
  await form.getByRole('button', { name: 'Simpan' }).press('Enter')
  await expect(form.getByText('Kunci QRIS kosong')).toBeVisible()
  await form.getByRole('button', { name: 'Tidak dipakai' }).press('Enter')
  await form.getByRole('button', { name: 'Simpan' }).press('Enter')
  await expect(page.getByText('Tidak dipakai')).toBeVisible()

  await page.getByRole('link', { name: 'Ringkasan' }).click()
  await page
    .getByRole('group', { name: 'Hari yang dilihat' })
    .getByRole('button', { name: 'Hari ini', exact: true })
    .click()
  await button(page, 'Unduh CSV').click()
  const saved = page.waitForEvent('download')
  await page.getByRole('button', { name: 'Unduh laporan QRIS' }).click()
  const file = await saved
  expect(file.suggestedFilename()).toMatch(new RegExp(`^qris-${idoutlet}-`))
  const [head, row] = readFileSync(await file.path(), 'utf8').split('\r\n')
  expect(head).toBe(
    '\uFEFFidtagihan;dibuat_at;dibayar_at;status;nominal;jumlah_penyedia;ref_penyedia;idpembelian_emoney',
  )
  expect(row).toMatch(new RegExp(`^${id};.*;dibayar;50000;50000;`))
})
