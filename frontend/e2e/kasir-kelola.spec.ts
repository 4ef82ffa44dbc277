import type { Page } from '@playwright/test'
import { newWorld, ops, scan } from './support/api.ts'
import { expectFineScreen } from './support/axe.ts'
import { lookAtSizes } from './support/look.ts'
import { card, dialog, openManagement, readOps, said } from './support/manage.ts'
import { fundedAt } from './support/purchase.ts'
import { PHONE } from './support/sizes.ts'
import { expect, test } from './support/test.ts'
import { button, enter, openAsOwner, readyShop, type Shop, TABLET } from './support/till.ts'

const SERVICES = [
  { nama: 'Cuci Reguler', durasi: 2_700, harga: 15_000 },
  { nama: 'Cuci Kilat', durasi: 1_800, harga: 12_000 },
]

/** Fills the open price by hour and uses it; all days are chosen at first. */
async function useRule(page: Page, rule: { without?: string[]; from: string; to: string; price: string }) {
  const form = dialog(page, 'Jam harga')
  for (const day of rule.without ?? []) await form.getByRole('button', { name: day }).press('Enter')
  await form.getByLabel('Dari jam').fill(rule.from)
  await form.getByLabel('Sampai jam').fill(rule.to)
  await form.getByLabel('Harga', { exact: true }).fill(rule.price)
  await page.keyboard.press('Enter')
}

const services = ({ idoutlet }: Shop) =>
  readOps<{ nama: string; harga: number; durasi: number; aktif: boolean }[]>(`layanan?idoutlet=${idoutlet}`)

test.use({ viewport: TABLET })

test('a supervisor adds a service with prices by hour, and an overlap is shown before it is sent', async ({
  page,
}) => {
  const shop = await openManagement(page, { services: SERVICES })
  await button(page, 'Tambah layanan').click()
  const form = dialog(page, 'Layanan baru')
  await form.getByRole('button', { name: 'Simpan' }).click()
  await said(page, 'Tulis nama layanan')
  await form.getByLabel('Nama layanan').fill('Kering 30')
  await form.getByLabel('Harga biasa').fill('10000')
  await form.getByLabel('Lama').fill('30')
  await form.getByRole('button', { name: 'Pengering' }).click()
  await form.getByRole('button', { name: 'Tambah jam' }).click()
  const rule = dialog(page, 'Jam harga')
  await useRule(page, { from: '25', to: '6', price: '' })
  await said(page, 'Jam mulai 00.00 sampai 23.59')
  await said(page, 'Tulis harganya')
  await useRule(page, { without: ['Sabtu', 'Minggu'], from: '22', to: '06.00', price: '7000' })
  await expect(rule).toHaveCount(0)
  await expect(form).toContainText('Sen–Jum 22.00–06.00')
  await expect(form).toContainText('Sampai esok hari')

  await form.getByRole('button', { name: 'Tambah jam' }).press('Enter')
  await useRule(page, { from: '0500', to: '7', price: '8000' })
  await expect(form.getByRole('alert')).toContainText(
    'Jam harga bertumpuk: Sen–Jum 22.00–06.00 dan Setiap hari',
  )
  await expect(form.getByRole('button', { name: 'Simpan' })).toBeDisabled()
  await form.getByRole('button', { name: 'Ubah Setiap hari 05.00–07.00' }).press('Enter')
  await useRule(page, { from: '06.00', to: '24.00', price: '8000' })
  await expect(form.getByRole('alert')).toContainText('Jam harga bertumpuk')
  await form.getByRole('button', { name: /^Ubah Setiap hari/ }).press('Enter')
  await rule.getByRole('button', { name: 'Hapus jam ini' }).press('Enter')
  await expect(form.getByRole('alert')).toHaveCount(0)
  await form.getByRole('button', { name: 'Simpan' }).press('Enter')
  await said(page, 'Kering 30 sudah dijual.')
  await expect(page.getByRole('region', { name: 'Pengering' })).toContainText('Sen–Jum 22.00–06.00 Rp 7.000')
  expect((await services(shop)).find(({ nama }) => nama === 'Kering 30')).toMatchObject({
    durasi: 1_800,
    harga: 10_000,
    jenis: 'kering',
    aturan: [{ hari: [1, 2, 3, 4, 5], dari: '22:00', sampai: '06:00', harga: 7_000 }],
  })
})

test('a new price is saved by its own button; another duration says that it is a new service', async ({
  page,
}) => {
  const shop = await openManagement(page, { services: SERVICES })
  await card(page, /Cuci Reguler/)
    .getByRole('button')
    .click()
  const form = dialog(page, 'Cuci Reguler')
  await form.getByLabel('Harga biasa').fill('16000')
  await form.getByRole('button', { name: 'Simpan harga Rp 16.000' }).press('Enter')
  await said(page, 'Cuci Reguler sudah disimpan.')
  await expect(card(page, /Cuci Reguler/)).toContainText('Rp 16.000')

  await card(page, /Cuci Kilat/)
    .getByRole('button')
    .click()
  const kilat = dialog(page, 'Cuci Kilat')
  await kilat.getByLabel('Lama').fill('25')
  await expect(kilat).toContainText('Lama berubah dari 30 menit menjadi 25 menit: ini menjadi layanan baru')
  // Back asks first: what was typed would be lost.
  await page.keyboard.press('Escape')
  await dialog(page, 'Buang yang sudah diisi?').getByRole('button', { name: 'Lanjut mengisi' }).press('Enter')
  await kilat.getByRole('button', { name: 'Simpan' }).press('Enter')
  await said(page, 'Cuci Kilat menjadi layanan baru. Yang lama berhenti dijual.')
  await expect(card(page, /Cuci Kilat/).first()).toContainText('25 menit')
  await page.getByText('Berhenti dijual (1)').click()
  await button(page, 'Jual lagi Cuci Kilat').click()
  await said(page, 'Layanan ini sudah diganti layanan lain, jadi tidak bisa diubah lagi. Lihat daftarnya.')

  await card(page, /Cuci Reguler/)
    .getByRole('button')
    .click()
  await form.getByRole('button', { name: 'Berhenti jual' }).press('Enter')
  await said(page, 'Cuci Reguler berhenti dijual.')
  await button(page, 'Jual lagi Cuci Reguler').click()
  await said(page, 'Cuci Reguler dijual lagi.')
  expect(
    (await services(shop)).filter(({ aktif }) => aktif).map(({ nama, durasi }) => [nama, durasi]),
  ).toEqual([
    ['Cuci Reguler', 2_700],
    ['Cuci Kilat', 1_500],
  ])
})

test('a lost answer loses nothing of the form, and adds one service', async ({ page }) => {
  const shop = await openManagement(page, { services: SERVICES })
  await button(page, 'Tambah layanan').click()
  const form = dialog(page, 'Layanan baru')
  await form.getByLabel('Nama layanan').fill('Cuci Besar')
  await form.getByLabel('Harga biasa').fill('24000')
  await form.getByLabel('Lama').fill('55')
  const keys: (string | undefined)[] = []
  await page.route('**/ops/v1/layanan', async (route) => {
    if (route.request().method() !== 'POST') return route.continue()
    keys.push(route.request().headers()['idempotency-key'])
    if (keys.length === 1) await route.fetch()
    return keys.length < 6 ? route.abort() : route.continue()
  })
  await form.getByRole('button', { name: 'Simpan' }).press('Enter')
  await expect(form).toContainText('Server belum menjawab. Isian ini belum tentu tersimpan', {
    timeout: 30_000,
  })
  await expect(form.getByLabel('Nama layanan')).toHaveValue('Cuci Besar')
  await expect(form.getByLabel('Nama layanan')).toBeDisabled()
  await expectFineScreen(page)
  // Neither does a reload.
  await page.reload()
  await expect(form.getByLabel('Nama layanan')).toHaveValue('Cuci Besar')
  await form.getByRole('button', { name: 'Tanyakan lagi' }).press('Enter')
  await said(page, 'Cuci Besar sudah dijual.')
  expect(new Set(keys).size).toBe(1)
  expect((await services(shop)).filter(({ nama }) => nama === 'Cuci Besar')).toHaveLength(1)
})

test('a form is kept over a lock, and a refusal of the server is shown in it', async ({ page }) => {
  const shop = await openManagement(page, { services: SERVICES })
  await card(page, /Cuci Kilat/)
    .getByRole('button')
    .click()
  const form = dialog(page, 'Cuci Kilat')
  await form.getByLabel('Harga biasa').fill('13000')
  await page.reload()
  await expect(form.getByLabel('Harga biasa')).toHaveValue('13000')
  await page.route('**/ops/v1/layanan/*', (route) =>
    route.fulfill({ status: 422, json: { status: 422, message: 'jam harga bertumpuk', data: null } }),
  )
  await form.getByRole('button', { name: 'Simpan harga Rp 13.000' }).press('Enter')
  await expect(form.getByRole('alert')).toHaveText('Jam harga bertumpuk')
  await expect(form.getByLabel('Harga biasa')).toHaveValue('13000')
  await page.unroute('**/ops/v1/layanan/*')
  await form.getByRole('button', { name: 'Simpan harga Rp 13.000' }).press('Enter')
  await said(page, 'Cuci Kilat sudah disimpan.')
  expect((await services(shop)).map(({ harga }) => harga)).toContain(13_000)
})

test('a supervisor closes the outlet and opens it; its data are the owner’s', async ({ page }) => {
  const { world } = await openManagement(page, { services: SERVICES })
  const customer = await fundedAt(world)
  const closing = async () => {
    const body = { qr: world.machine.kode, limit: 1, skip: 0, search: '' }
    const { data } = await scan<{
      data_mesin: { outlet: { tutup: { alasan: string; sampai: string } | null } }
    }>('transaksi/get_layanan', body, customer.token)
    return data.data_mesin.outlet.tutup
  }
  await button(page, 'Outlet').click()
  await expect(page.getByRole('heading', { name: 'Buka' })).toBeVisible()
  await expect(button(page, 'Ubah data outlet')).toHaveCount(0)
  await button(page, 'Tutup outlet').click()
  const form = dialog(page, 'Tutup outlet')
  await form.getByRole('button', { name: 'Tutup outlet' }).press('Enter')
  await said(page, 'Pilih atau tulis alasannya')
  await form.getByRole('button', { name: 'Air mati' }).press('Enter')
  const soon = new Date(Date.now() + 9 * 3_600_000).toISOString().slice(11, 16)
  await form.getByLabel('Buka lagi jam').fill(soon.replace(':', ''))
  await expect(form.getByText(/^Buka lagi sendiri/)).toContainText(soon.replace(':', '.'))
  await form.getByRole('button', { name: 'Tutup outlet' }).press('Enter')
  await said(page, 'Laundry Melati sudah ditutup.')
  await expect(page.getByRole('heading', { name: 'Sedang tutup' })).toBeVisible()
  const closed = await closing()
  expect(closed?.alasan).toBe('Air mati')
  expect(new Date(Date.parse(closed?.sampai ?? '') + 7 * 3_600_000).toISOString().slice(11, 16)).toBe(soon)

  await button(page, 'Ubah alasan atau jam buka').click()
  await form.getByRole('button', { name: 'Lainnya' }).press('Enter')
  await form.getByLabel('Alasannya').fill('Saluran air mampet')
  await form.getByRole('button', { name: 'Tutup outlet' }).press('Enter')
  await expect(page.getByText('Saluran air mampet')).toBeVisible()
  await button(page, 'Buka outlet').click()
  await said(page, 'Laundry Melati sudah dibuka.')
  expect(await closing()).toBeNull()
})

test('an owner changes the data of one of several outlets, on a phone', async ({ page }) => {
  await page.setViewportSize({ width: 360, height: 740 })
  const { idowner } = await newWorld(SERVICES)
  const place = { nama: 'Laundry Kenanga', kota: 'Denpasar', latitude: -8.65, longitude: 115.21 }
  const { idoutlet } = await ops<{ idoutlet: number }>('outlet', { idowner, ...place, zona: 'Asia/Makassar' })
  await openAsOwner(page, idowner)
  await page.getByRole('link', { name: 'Kelola' }).click()
  await page.getByRole('combobox', { name: 'Outlet' }).selectOption(String(idoutlet))
  await expect(page.getByText('Belum ada layanan')).toBeVisible()
  await button(page, 'Outlet').click()
  await expect(page.getByText('WITA')).toBeVisible()
  await button(page, 'Ubah data outlet').click()
  const form = dialog(page, 'Data outlet')
  await form.getByLabel('Nama outlet').fill('')
  await form.getByLabel('Buka jam').fill('7')
  await form.getByLabel('Tutup jam').fill('25')
  await form.getByRole('button', { name: 'Simpan' }).press('Enter')
  await said(page, 'Tulis nama outlet')
  await said(page, 'Jam tutup 00.00 sampai 24.00')
  await form.getByLabel('Nama outlet').fill('Laundry Kenanga 2')
  await form.getByLabel('Tutup jam').fill('24.00')
  await form.getByRole('button', { name: 'WIB' }).press('Enter')
  await form.getByRole('button', { name: 'Simpan' }).press('Enter')
  await said(page, 'Laundry Kenanga 2 sudah disimpan.')
  await expect(page.getByText('07.00–24.00')).toBeVisible()
  await expect(page.getByText('WIB')).toBeVisible()
})

test('a kasir has no management, whatever the address', async ({ page }) => {
  await enter(await readyShop(page, { services: SERVICES }), 'rina')
  await expect(page.getByRole('link', { name: 'Transaksi' })).toBeVisible()
  await expect(page.getByRole('link', { name: 'Kelola' })).toHaveCount(0)
  await page.goto(`${process.env.NYALA_URL}/kasir/kelola`)
  await expect(page).toHaveURL(/\/kasir$/)
  await expect(page.getByRole('link', { name: 'Kelola' })).toHaveCount(0)
})

test('each screen looks well at each size', async ({ page }) => {
  await page.setViewportSize(PHONE)
  const { idoutlet } = await openManagement(page, { services: SERVICES })
  const night = { hari: [1, 2, 3, 4, 5], dari: '22:00', sampai: '06:00', harga: 9_000 }
  const busy = { hari: [6, 7], dari: '09:00', sampai: '15:00', harga: 18_000 }
  const kering = { nama: 'Kering 30', durasi: 1_800, harga: 10_000, jenis: 'kering', aturan: [night] }
  await ops('layanan', { idoutlet, ...kering })
  const long = 'Cuci Selimut dan Bed Cover Ukuran Besar Sekali'
  const besar = { nama: long, durasi: 3_300, harga: 1_250_000, jenis: 'cuci', ukuran: '14 kg' }
  const { id } = await ops<{ id: number }>('layanan', { idoutlet, ...besar, aturan: [night, busy] })
  await page.reload()
  await expect(card(page, /Bed Cover/)).toBeVisible()
  await lookAtSizes(page, 'layanan')
  await card(page, /Bed Cover/)
    .getByRole('button')
    .click()
  await dialog(page, long).getByLabel('Lama').fill('50')
  await lookAtSizes(page, 'ubah')
  await lookAtSizes(page, 'minggu', () =>
    dialog(page, long).getByText('sekarang', { exact: true }).scrollIntoViewIfNeeded(),
  )
  await dialog(page, long)
    .getByRole('button', { name: /^Ubah Sen–Jum/ })
    .press('Enter')
  await expect(dialog(page, 'Jam harga')).toBeVisible()
  await lookAtSizes(page, 'jam')
  await page.keyboard.press('Escape')
  await page.keyboard.press('Escape')
  await dialog(page, 'Buang yang sudah diisi?').getByRole('button', { name: 'Buang' }).press('Enter')
  await ops(`layanan/${id}`, { aktif: false })
  await page.reload()
  await page.getByText('Berhenti dijual (1)').click()
  await lookAtSizes(page, 'berhenti')
  await button(page, 'Outlet').click()
  await lookAtSizes(page, 'outlet')
  await button(page, 'Tutup outlet').click()
  await lookAtSizes(page, 'tutup')
  const form = dialog(page, 'Tutup outlet')
  await form.getByRole('button', { name: 'Listrik mati' }).press('Enter')
  await form.getByLabel('Buka lagi jam').fill('0600')
  await form.getByRole('button', { name: 'Tutup outlet' }).press('Enter')
  await expect(page.getByRole('heading', { name: 'Sedang tutup' })).toBeVisible()
  await lookAtSizes(page, 'sedang-tutup')
})
