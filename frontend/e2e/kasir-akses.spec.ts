import type { Page } from '@playwright/test'
import { newCustomer, ops, topUp } from './support/api.ts'
import { expectFineScreen } from './support/axe.ts'
import { lookAtSizes } from './support/look.ts'
import { dialog, openManagement, readOps, said } from './support/manage.ts'
import { PHONE } from './support/sizes.ts'
import { expect, test } from './support/test.ts'
import { button, type Shop, TABLET } from './support/till.ts'

const SERVICES = [{ nama: 'Cuci Kilat', durasi: 1_800, harga: 12_000 }]

const openAccess = (page: Page) => openManagement(page, { services: SERVICES, part: 'Kunci & audit' })

interface Key {
  nama: string
  idoutlet: number | null
  dicabut_at: string | null
}

const apiKeys = async ({ idoutlet }: Shop) =>
  (await readOps<{ baris: Key[] }>('kunci?limit=100')).baris.filter((one) => one.idoutlet === idoutlet)

const ask = (key: string, path: string) =>
  fetch(`${process.env.NYALA_URL}/ops/v1/${path}`, { headers: { authorization: `Bearer ${key}` } })

test.use({ viewport: TABLET })

test('a supervisor makes an API key by the keyboard alone, which works until it is revoked', async ({
  page,
}) => {
  const shop = await openAccess(page)
  await said(page, 'Belum ada kunci.')
  await button(page, 'Tambah kunci').press('Enter')
  const form = dialog(page, 'Kunci baru')
  await expect(form.getByLabel('Dipakai oleh')).toBeFocused()
  await page.keyboard.press('Enter')
  await said(page, 'Tulis siapa yang memakainya')
  await page.keyboard.insertText('Pembukuan')
  await page.keyboard.press('Enter')
  const shown = dialog(page, 'Kunci Pembukuan')
  await expect(shown).toContainText('Kunci ini tampil sekali saja.')
  const secret = (await shown.locator('p[translate="no"]').textContent()) ?? ''
  await expectFineScreen(page)
  expect((await ask(secret, 'saya')).status).toBe(200)
  await shown.getByRole('button', { name: 'Selesai' }).press('Enter')
  await button(page, 'Cabut kunci Pembukuan').press('Enter')
  const sure = dialog(page, 'Cabut kunci Pembukuan')
  await expect(sure).toContainText('Program yang memakai kunci Pembukuan langsung ditolak.')
  await sure.getByRole('button', { name: 'Cabut kunci Pembukuan' }).press('Enter')
  await said(page, 'Kunci Pembukuan sudah dicabut.')
  expect((await ask(secret, 'saya')).status).toBe(401)
  await expect(page.getByText('Sudah dicabut (1)')).toBeVisible()
  expect((await apiKeys(shop)).map(({ nama }) => nama)).toEqual(['Pembukuan'])
})

test('a key whose secret was lost with its answer is revoked, and another one is made', async ({ page }) => {
  const shop = await openAccess(page)
  await button(page, 'Tambah kunci').press('Enter')
  const form = dialog(page, 'Kunci baru')
  await form.getByLabel('Dipakai oleh').fill('Kas')
  let calls = 0
  await page.route('**/ops/v1/kunci', async (route) => {
    if (route.request().method() !== 'POST') return route.continue()
    calls += 1
    if (calls > 1) return route.continue()
    await route.fetch()
    await route.abort()
  })
  await form.getByRole('button', { name: 'Buat kunci' }).press('Enter')
  await expect(dialog(page, 'Kunci Kas')).toBeVisible()
  expect((await apiKeys(shop)).map(({ dicabut_at }) => dicabut_at === null).sort()).toEqual([false, true])
})

test('the audit log is filtered by action and by object, and goes on where a page ends', async ({ page }) => {
  const shop = await openAccess(page)
  const services = await readOps<{ id: number }[]>(`layanan?idoutlet=${shop.idoutlet}`)
  const id = services[0]?.id
  for (let i = 0; i < 55; i++) await ops(`layanan/${id}`, { harga: 12_000 + i })
  await ops(`mesin/${shop.world.machine.id}/tutup`, { alasan: 'Bocor di selang' })
  await page.reload()
  const log = page.getByRole('region', { name: 'Catatan perubahan' })
  await expect(log.getByRole('button', { name: /Mesin ditutup/ })).toHaveCount(1)
  await log.getByLabel('Perbuatan').selectOption('Layanan diubah')
  await expect(log.getByRole('button', { name: /Mesin ditutup/ })).toHaveCount(0)
  // The second page comes by itself at the end of the first.
  await expect(async () => {
    await log
      .getByRole('button', { name: /Layanan diubah/ })
      .last()
      .scrollIntoViewIfNeeded()
    await expect(log.getByRole('button', { name: /Layanan diubah/ })).toHaveCount(55, { timeout: 1_000 })
  }).toPass()
  await log.getByLabel('Perbuatan').selectOption('Mesin dihentikan')
  await said(page, 'Tidak ada catatan')
  await log.getByLabel('Perbuatan').selectOption('Semua perbuatan')
  await log.getByRole('button', { name: /Mesin ditutup/ }).press('Enter')
  const one = dialog(page, 'Mesin ditutup')
  await expect(one).toContainText('Bocor di selang')
  await expect(one).toContainText('e2e')
  await expectFineScreen(page)
  await one.getByRole('button', { name: `Lihat semua tentang mesin:${shop.world.machine.id}` }).press('Enter')
  await said(page, `Hanya tentang mesin:${shop.world.machine.id}`)
  await expect(log.getByRole('button', { name: /Layanan diubah/ })).toHaveCount(0)
  await expect(log.getByRole('button', { name: /Mesin/ })).not.toHaveCount(0)
  await log.getByRole('button', { name: 'Tampilkan semua' }).press('Enter')
  await expect(log.getByRole('button', { name: /Layanan diubah/ }).first()).toBeVisible()
})

test('the audit log says that it could not be read, and is read again', async ({ page }) => {
  await openManagement(page)
  await page.route('**/ops/v1/audit?*', (route) => route.abort())
  await button(page, 'Kunci & audit').press('Enter')
  const log = page.getByRole('region', { name: 'Catatan perubahan' })
  await expect(log.getByRole('button', { name: 'Coba lagi' })).toBeVisible({ timeout: 30_000 })
  await page.unrouteAll({ behavior: 'wait' })
  await log.getByRole('button', { name: 'Coba lagi' }).press('Enter')
  await expect(log.getByRole('button', { name: /Perangkat/ }).first()).toBeVisible()
})

test('a customer is found by number, with the accounts and the history in sight', async ({ page }) => {
  const shop = await openManagement(page, { part: 'Pelanggan' })
  const siti = await newCustomer('Siti Rahma')
  const other = await newCustomer('Budi Santoso')
  await topUp(siti, shop.idoutlet, 50_000)
  const number = page.getByLabel('Nomor WhatsApp')
  await number.fill('0812')
  await page.keyboard.press('Enter')
  await said(page, 'Tulis nomor, paling sedikit 9 angka')
  await number.fill('0812000000')
  await page.keyboard.press('Enter')
  await said(page, 'Nomor ini belum terdaftar.')
  await number.fill(`0${other.telp}`)
  await page.keyboard.press('Enter')
  await said(page, 'Pelanggan ini belum punya saldo di outlet Anda.')
  await button(page, 'Cari yang lain').press('Enter')
  await number.fill(`0${siti.telp}`)
  await page.keyboard.press('Enter')
  const found = page.getByRole('region', { name: 'Siti Rahma' })
  await expect(found).toContainText('Laundry Melati')
  await expect(found).toContainText('Rp 50.000')
  // The middle of the number stays hidden.
  await expect(page.getByText(siti.telp.slice(3, 7))).toHaveCount(0)
  await expect(page.getByRole('region', { name: 'Riwayat' })).toContainText('+Rp 50.000')
  await expectFineScreen(page)
})

test('keys, audit and customers look well at each size', async ({ page }) => {
  await page.setViewportSize(PHONE)
  const { idoutlet } = await openAccess(page)
  await ops('kunci', { nama: 'Pembukuan CV Sumber Makmur Abadi Sejahtera', role: 'kasir', idoutlet })
  await page.reload()
  await expect(page.getByText('Pembukuan CV', { exact: false }).first()).toBeVisible()
  await expect(page.getByRole('button', { name: /Kunci API dibuat/ })).toBeVisible()
  await lookAtSizes(page, 'akses')
  await page.getByRole('button', { name: /Kunci API dibuat/ }).press('Enter')
  await lookAtSizes(page, 'audit-satu')
  await page.keyboard.press('Escape')
  await button(page, 'Pelanggan').press('Enter')
  await lookAtSizes(page, 'pelanggan-cari')
  const siti = await newCustomer('Siti Rahma')
  for (const amount of [50_000, 20_000, 10_000]) await topUp(siti, idoutlet, amount)
  await page.getByLabel('Nomor WhatsApp').fill(`0${siti.telp}`)
  await page.keyboard.press('Enter')
  await expect(page.getByRole('region', { name: 'Riwayat' })).toContainText('+Rp 50.000')
  await lookAtSizes(page, 'pelanggan')
})
