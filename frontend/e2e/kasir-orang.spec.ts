import type { Page } from '@playwright/test'
import { expectFineScreen } from './support/axe.ts'
import { lookAtSizes } from './support/look.ts'
import { card, dialog, openManagement, readOps, said } from './support/manage.ts'
import { readQr } from './support/qr.ts'
import { PHONE } from './support/sizes.ts'
import { expect, test } from './support/test.ts'
import { button, callAt, lock, logIn, openAsOwner, readyShop, type Shop, TABLET } from './support/till.ts'

interface Row {
  id: number
  nama: string
  idoutlet: number | null
  dicabut_at: string | null
}

const rows = async (path: string, { idoutlet }: Shop) =>
  (await readOps<{ baris: Row[] }>(`${path}?limit=100`)).baris.filter((one) => one.idoutlet === idoutlet)

/** An owner's own browser, at the management. */
async function openManagementAsOwner(page: Page): Promise<Shop> {
  const shop = await readyShop(page, { outlet: 'Laundry Melati' })
  await openAsOwner(page, shop.world.idowner)
  await page.getByRole('link', { name: 'Kelola' }).click()
  return shop
}

test.use({ viewport: TABLET })

test('a supervisor hires a kasir by the keyboard alone, whose first PIN logs in', async ({ page }) => {
  await openManagement(page, { part: 'Petugas' })
  await button(page, 'Tambah petugas').press('Enter')
  const form = dialog(page, 'Petugas baru')
  await expect(form.getByLabel('Nama')).toBeFocused()
  await page.keyboard.press('Enter')
  await said(page, 'Tulis namanya')
  // A supervisor hires no other supervisor.
  await expect(form.getByRole('group', { name: 'Peran' })).toContainText(/^PeranKasirTeknisi$/)
  await page.keyboard.insertText('Dewi')
  await page.keyboard.press('Enter')
  const shown = dialog(page, 'PIN awal Dewi')
  await expect(shown).toContainText('PIN ini tampil sekali saja.')
  const pin = (await shown.getByText(/^\d{6}$/).textContent()) ?? ''
  await expectFineScreen(page)
  await shown.getByRole('button', { name: 'Selesai' }).press('Enter')
  await expect(card(page, /Dewi/)).toContainText('PIN awal belum diganti')
  await lock(page)
  await logIn(page, 'Dewi', pin)
  await expect(page.getByText('PIN baru Dewi').first()).toBeVisible()
})

test('a person gets a new first PIN, is unlocked and is dismissed', async ({ page }) => {
  const shop = await openManagement(page, { part: 'Petugas' })
  const wrong = { idpetugas: shop.tono.id, pin: '999111' }
  for (let i = 0; i < 4; i++) await callAt(page, 'masuk', wrong).catch(() => undefined)
  await card(page, /Tono/).getByRole('button').press('Enter')
  const tono = dialog(page, 'Tono')
  await tono.getByRole('button', { name: 'Beri PIN awal baru' }).press('Enter')
  await expect(dialog(page, 'PIN awal Tono').getByText(/^\d{6}$/)).toBeVisible()
  await page.keyboard.press('Escape')
  await expect(card(page, /Tono/)).toContainText('PIN awal belum diganti')

  await page.route('**/ops/v1/petugas?*', async (route) => {
    const answer = await route.fetch()
    const body = (await answer.json()) as { data: { baris: { id: number; dikunci: boolean }[] } }
    for (const one of body.data.baris) one.dikunci = one.id === shop.tono.id
    await route.fulfill({ response: answer, json: body })
  })
  await page.reload()
  await expect(card(page, /Tono/)).toContainText('Terkunci, PIN salah terlalu sering')
  await card(page, /Tono/).getByRole('button').press('Enter')
  await tono.getByRole('button', { name: 'Buka kunci' }).press('Enter')
  await said(page, 'Kunci Tono sudah dibuka.')
  await page.unrouteAll({ behavior: 'wait' })

  await card(page, /Tono/).getByRole('button').press('Enter')
  await tono.getByRole('button', { name: 'Berhentikan' }).press('Enter')
  const sure = dialog(page, 'Berhentikan')
  await expect(sure).toContainText('Tono tidak bisa masuk lagi.')
  // The answer is lost: asked again, the person is already dismissed.
  let calls = 0
  await page.route('**/ops/v1/petugas/*/cabut', async (route) => {
    calls += 1
    if (calls > 1) return route.continue()
    await route.fetch()
    await route.abort()
  })
  await sure.getByRole('button', { name: 'Berhentikan' }).press('Enter')
  await said(page, 'Tono diberhentikan.')
  expect(calls).toBe(2)
  await page.getByText('Sudah berhenti (1)').click()
  await expect(page.getByText('Tono, Kasir')).toBeVisible()
  const tonos = (await rows('petugas', shop)).filter(({ nama }) => nama === 'Tono')
  expect(tonos.map(({ dicabut_at }) => dicabut_at === null)).toEqual([false])
})

test('lost answers hire one person and add one browser; without network nothing is sent', async ({
  page,
}) => {
  const shop = await openManagement(page, { part: 'Petugas' })
  await button(page, 'Tambah petugas').press('Enter')
  const form = dialog(page, 'Petugas baru')
  await form.getByLabel('Nama').fill('Dewi')
  await page.context().setOffline(true)
  await expect(form).toContainText('Tidak ada sambungan, belum bisa disimpan.')
  await expect(form.getByRole('button', { name: 'Tambah petugas' })).toBeDisabled()
  await page.context().setOffline(false)
  const once = (path: string) =>
    page.route(path, async (route) => {
      if (route.request().method() !== 'POST') return route.continue()
      await route.fetch()
      await route.abort()
    })
  await once('**/ops/v1/petugas')
  await form.getByRole('button', { name: 'Tambah petugas' }).press('Enter')
  await expect(dialog(page, 'PIN awal Dewi').getByText(/^\d{6}$/)).toBeVisible()
  await page.keyboard.press('Escape')
  expect((await rows('petugas', shop)).filter(({ nama }) => nama === 'Dewi')).toHaveLength(1)

  await button(page, 'Perangkat').press('Enter')
  await button(page, 'Tambah perangkat').press('Enter')
  const till = dialog(page, 'Perangkat baru')
  await till.getByLabel('Nama perangkat').fill('Tablet belakang')
  await once('**/ops/v1/perangkat')
  await till.getByRole('button', { name: 'Buat kode pasang' }).press('Enter')
  await expect(dialog(page, 'Kode pasang Tablet belakang').getByText(/^\w{4} \w{4}$/)).toBeVisible()
  expect((await rows('perangkat', shop)).filter(({ nama }) => nama === 'Tablet belakang')).toHaveLength(1)
})

test('a pairing code pairs another browser, by its QR code, and a browser is revoked', async ({
  page,
  browser,
}) => {
  await openManagement(page, { part: 'Perangkat' })
  await page.setViewportSize({ width: 1366, height: 1000 })
  await expect(card(page, /Tablet depan/)).toContainText('Terpasang')
  await button(page, 'Tambah perangkat').press('Enter')
  const form = dialog(page, 'Perangkat baru')
  await form.getByRole('button', { name: 'Buat kode pasang' }).press('Enter')
  await said(page, 'Tulis nama perangkat')
  await form.getByLabel('Nama perangkat').fill('Tablet belakang')
  await page.keyboard.press('Enter')
  const shown = dialog(page, 'Kode pasang Tablet belakang')
  await expect(shown.getByText(/^Sekali pakai, sisa (09|10):\d\d$/)).toBeVisible()
  const code = shown.getByRole('img', { name: 'Kode QR untuk memasang' })
  await expect(code.locator('path')).toHaveAttribute('d', /^M/)
  const link = await readQr((await code.screenshot()).toString('base64'))
  await expectFineScreen(page)
  await shown.getByRole('button', { name: 'Selesai' }).press('Enter')
  await expect(card(page, /Tablet belakang/)).toContainText('Kode belum dipakai')

  const other = await browser.newContext()
  const tablet = await other.newPage()
  await tablet.goto(link)
  await expect(tablet.getByText('Siapa yang bertugas?')).toBeVisible()
  await expect(card(page, /Tablet belakang/)).toContainText('Terpasang')

  await card(page, /Tablet belakang/)
    .getByRole('button')
    .press('Enter')
  await dialog(page, 'Tablet belakang').getByRole('button', { name: 'Cabut' }).press('Enter')
  await dialog(page, 'Cabut').getByRole('button', { name: 'Cabut' }).press('Enter')
  await said(page, 'Tablet belakang sudah dicabut.')
  await tablet.reload()
  await expect(tablet.getByText('Pasang perangkat kasir')).toBeVisible()
  await other.close()
  // Its till goes on in another browser.
  await page.getByText('Sudah dicabut (1)').click()
  await card(page, /Tablet belakang/)
    .getByRole('button')
    .press('Enter')
  await dialog(page, 'Tablet belakang').getByRole('button', { name: 'Buat kode pasang baru' }).press('Enter')
  await expect(shown.getByText(/^\w{4} \w{4}$/)).toBeVisible()
})

test('an owner hires a supervisor and pairs a phone of their own; a refusal is shown', async ({ page }) => {
  const shop = await openManagementAsOwner(page)
  await button(page, 'Petugas').press('Enter')
  await expect(card(page, /Hadi/)).toContainText('Supervisor')
  await button(page, 'Tambah petugas').press('Enter')
  const form = dialog(page, 'Petugas baru')
  await form.getByLabel('Nama').fill('Wati')
  await form.getByRole('button', { name: 'Supervisor' }).press('Enter')
  await page.route('**/ops/v1/petugas', (route) =>
    route.fulfill({ status: 404, json: { status: 404, message: 'outlet tidak ditemukan', data: null } }),
  )
  await form.getByRole('button', { name: 'Tambah petugas' }).press('Enter')
  await expect(form.getByRole('alert')).toHaveText('Outlet tidak ditemukan')
  await page.unroute('**/ops/v1/petugas')
  await form.getByRole('button', { name: 'Tambah petugas' }).press('Enter')
  await expect(dialog(page, 'PIN awal Wati')).toBeVisible()
  await page.keyboard.press('Escape')
  expect((await rows('petugas', shop)).map(({ nama }) => nama)).toContain('Wati')

  await button(page, 'Perangkat').press('Enter')
  await expect(card(page, /HP Sari/)).toBeVisible()
  await button(page, 'Tambah perangkat').press('Enter')
  const till = dialog(page, 'Perangkat baru')
  await till.getByLabel('Nama perangkat').fill('Laptop rumah')
  await till.getByRole('button', { name: 'Ponsel saya' }).press('Enter')
  await till.getByRole('button', { name: 'Buat kode pasang' }).press('Enter')
  await expect(dialog(page, 'Kode pasang Laptop rumah')).toBeVisible()
  await page.keyboard.press('Escape')
  await expect(card(page, /Laptop rumah/)).toContainText('Ponsel Sari')
})

test('staff and browsers look well at each size', async ({ page }) => {
  await page.setViewportSize(PHONE)
  await openManagement(page, { part: 'Petugas' })
  await expect(card(page, /Rina/)).toBeVisible()
  await lookAtSizes(page, 'petugas')
  await button(page, 'Tambah petugas').press('Enter')
  await lookAtSizes(page, 'petugas-baru')
  await page.keyboard.press('Escape')
  await card(page, /Rina/).getByRole('button').press('Enter')
  await lookAtSizes(page, 'petugas-satu')
  await page.keyboard.press('Escape')
  await button(page, 'Perangkat').press('Enter')
  await expect(card(page, /Tablet depan/)).toBeVisible()
  await lookAtSizes(page, 'perangkat')
  await button(page, 'Tambah perangkat').press('Enter')
  await dialog(page, 'Perangkat baru').getByLabel('Nama perangkat').fill('Tablet belakang')
  await page.keyboard.press('Enter')
  const code = dialog(page, 'Kode pasang Tablet belakang')
  await expect(code.getByRole('img').locator('path')).toHaveAttribute('d', /^M/)
  await lookAtSizes(page, 'perangkat-kode')
})
