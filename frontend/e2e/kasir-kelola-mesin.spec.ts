import type { Page } from '@playwright/test'
import { newCustomer, newMachine, ops, topUp } from './support/api.ts'
import { expectFineScreen } from './support/axe.ts'
import { buy } from './support/buy.ts'
import { lookAtSizes } from './support/look.ts'
import { card, dialog, openManagement, readOps, said } from './support/manage.ts'
import { readQr } from './support/qr.ts'
import { PHONE } from './support/sizes.ts'
import { expect, test } from './support/test.ts'
import { button, type Shop, TABLET } from './support/till.ts'

const SERVICES = [{ nama: 'Cuci Kilat', durasi: 1_800, harga: 12_000 }]

interface Machine {
  id: number
  nama: string
  jenis: string
  ukuran: string | null
}

const machines = async ({ idoutlet }: Shop) =>
  (await readOps<{ mesin: Machine[] }>(`mesin?idoutlet=${idoutlet}`)).mesin
const names = async (shop: Shop) => (await machines(shop)).map(({ nama }) => nama)

const openMachines = (page: Page) => openManagement(page, { services: SERVICES, part: 'Mesin' })

/** Moves the focus by the keyboard alone, until it is on a control with this name. */
async function tabTo(page: Page, name: string): Promise<void> {
  for (let i = 0; i < 60; i++) {
    await page.keyboard.press('Tab')
    const found = await page.evaluate((wanted) => {
      const at = document.activeElement
      const label = at instanceof HTMLInputElement ? at.labels?.[0]?.textContent : null
      return [label, at?.getAttribute('aria-label'), at?.textContent].includes(wanted)
    }, name)
    if (found) return
  }
  throw new Error(`no tab leads to ${name}`)
}

test.use({ viewport: TABLET })

test('a supervisor adds one machine and several with numbers, by the keyboard alone', async ({ page }) => {
  const shop = await openMachines(page)
  await expect(button(page, 'Tambah mesin')).toBeVisible()
  await tabTo(page, 'Tambah mesin')
  await page.keyboard.press('Enter')
  const form = dialog(page, 'Mesin baru')
  // The name has the focus.
  await expect(form.getByLabel('Nama mesin')).toBeFocused()
  await page.keyboard.press('Enter')
  await said(page, 'Tulis nama mesin')
  await page.keyboard.insertText('Pengering Besar')
  await expect(form.getByRole('button', { name: 'Pengering' })).toHaveAttribute('aria-pressed', 'true')
  await tabTo(page, 'Ukuran')
  await page.keyboard.insertText('14 kg')
  await page.keyboard.press('Enter')
  await said(page, 'Pengering Besar sudah ditambahkan.')
  await expect(form).toHaveCount(0)

  await button(page, 'Tambah mesin').focus()
  await page.keyboard.press('Enter')
  await form.getByLabel('Berapa mesin').fill('0')
  await page.keyboard.press('Enter')
  await said(page, 'Tulis 1 sampai 200')
  await form.getByLabel('Berapa mesin').fill('3')
  await form.getByLabel('Awal nama').fill('Cuci')
  await form.getByLabel('Nomor pertama').fill('')
  await page.keyboard.press('Enter')
  await said(page, 'Nomor 1 sampai 900000')
  await form.getByLabel('Nomor pertama').fill('9')
  await form.getByLabel('Banyak angka').fill('2')
  await said(page, 'Cuci 09 sampai Cuci 11')
  await form.getByRole('button', { name: 'Tambah 3 mesin' }).press('Enter')
  await said(page, '3 mesin sudah ditambahkan.')
  await expect(page.getByRole('region', { name: 'Mesin cuci' }).getByRole('listitem')).toHaveCount(4)
  expect((await machines(shop)).map(({ nama, jenis, ukuran }) => [nama, jenis, ukuran])).toEqual([
    ['Cuci 09', 'cuci', null],
    ['Cuci 10', 'cuci', null],
    ['Cuci 11', 'cuci', null],
    ['Mesin 07', 'cuci', null],
    ['Pengering Besar', 'kering', '14 kg'],
  ])
})

test('a machine is renamed, gets another kind and a service interval, and is retired when it is idle', async ({
  page,
}) => {
  const shop = await openMachines(page)
  await card(page, /Mesin 07/)
    .getByRole('button')
    .click()
  await dialog(page, 'Mesin 07').getByLabel('Nama mesin').fill('Pengering 07')
  const form = dialog(page, 'Mesin 07')
  await form.getByRole('button', { name: 'Pengering' }).press('Enter')
  await form.getByLabel('Servis tiap').fill('0')
  await form.getByRole('button', { name: 'Simpan' }).press('Enter')
  await said(page, 'Tulis 1 sampai 100000 siklus')
  await form.getByLabel('Servis tiap').fill('500')
  const sent = page.waitForRequest((request) => request.url().endsWith(`/mesin/${shop.world.machine.id}`))
  await form.getByRole('button', { name: 'Simpan' }).press('Enter')
  expect((await sent).postDataJSON()).toEqual({ nama: 'Pengering 07', jenis: 'kering', servis_tiap: 500 })
  await said(page, 'Pengering 07 sudah disimpan.')
  await expect(page.getByRole('region', { name: 'Pengering' })).toContainText('Pengering 07')

  const customer = await newCustomer()
  await topUp(customer, shop.idoutlet, 20_000)
  await buy(customer, shop.world)
  await card(page, /Pengering 07/)
    .getByRole('button')
    .click()
  await dialog(page, 'Pengering 07').getByRole('button', { name: 'Berhenti pakai mesin' }).press('Enter')
  const retire = dialog(page, 'Berhenti pakai mesin')
  await expect(retire).toContainText('Stiker dan kunci alatnya tidak berlaku lagi.')
  await expectFineScreen(page)
  await retire.getByRole('button', { name: 'Berhenti pakai mesin' }).press('Enter')
  await expect(retire.getByRole('alert')).toHaveText('Mesin sedang digunakan')
  await retire.getByRole('button', { name: 'Kembali' }).press('Enter')
  await page.keyboard.press('Escape')
  const { id } = await newMachine(shop.idoutlet, 'Cuci 01')
  await page.reload()
  await card(page, /Cuci 01/)
    .getByRole('button')
    .click()
  await dialog(page, 'Cuci 01').getByRole('button', { name: 'Berhenti pakai mesin' }).press('Enter')
  await retire.getByRole('button', { name: 'Berhenti pakai mesin' }).press('Enter')
  await said(page, 'Cuci 01 tidak dipakai lagi.')
  await expect(card(page, /Cuci 01/)).toHaveCount(0)
  expect((await machines(shop)).map((one) => one.id)).not.toContain(id)
})

test('a device’s key is shown once, as a code, a file and a text', async ({ page }) => {
  const shop = await openMachines(page)
  await page.setViewportSize({ width: 1366, height: 1000 })
  const { id } = await ops<{ id: number }>('mesin', {
    idoutlet: shop.idoutlet,
    nama: 'Cuci 02',
    driver: 'mqtt',
  })
  await page.reload()
  const open = (name: RegExp) => card(page, name).getByRole('button').click()
  await open(/Cuci 02/)
  await dialog(page, 'Cuci 02').getByRole('button', { name: 'Buat kunci alat' }).press('Enter')
  const shown = dialog(page, 'Kunci alat Cuci 02')
  await expect(shown).toContainText('Kunci ini tampil sekali saja.')
  const code = shown.getByRole('img', { name: 'Kode QR kunci alat Cuci 02' })
  await expect(code.locator('path')).toHaveAttribute('d', /^M/)
  await code.scrollIntoViewIfNeeded()
  const picture = (await code.screenshot()).toString('base64')
  const login = JSON.parse(await readQr(picture)) as { user: string; secret: string; idmesin: number }
  expect(login).toMatchObject({ idmesin: id, user: String(id), idoutlet: shop.idoutlet })
  await expect(shown).toContainText(login.secret)
  const saved = page.waitForEvent('download')
  await shown.getByRole('button', { name: 'Unduh kunci' }).press('Enter')
  const file = await saved
  expect(file.suggestedFilename()).toBe(`kunci-mesin-${id}.json`)
  const chunks: Buffer[] = []
  for await (const chunk of await file.createReadStream()) chunks.push(chunk as Buffer)
  expect(JSON.parse(Buffer.concat(chunks).toString())).toEqual(login)
  await expectFineScreen(page)
  await page.keyboard.press('Escape')
  await expect(shown).toHaveCount(0)
  await open(/Cuci 02/)
  await expect(dialog(page, 'Cuci 02')).not.toContainText(login.secret)
  await page.keyboard.press('Escape')

  // A simulated machine has no device.
  await open(/Mesin 07/)
  const other = dialog(page, 'Mesin 07')
  const key = other.getByRole('button', { name: 'Buat kunci alat' })
  if ((await key.count()) > 0) {
    await key.press('Enter')
    await expect(other.getByRole('alert')).toBeVisible()
  }
})

test('machines are put in order by a handle’s arrow keys and by dragging it', async ({ page }) => {
  const shop = await openMachines(page)
  for (const name of ['Cuci 01', 'Cuci 02', 'Cuci 03']) await newMachine(shop.idoutlet, name)
  await page.reload()
  await button(page, 'Ubah urutan').press('Enter')
  const form = dialog(page, 'Urutan mesin')
  await form.getByRole('button', { name: 'Pindahkan Cuci 01, urutan 1 dari 4' }).press('ArrowDown')
  await expect(form.getByText('Cuci 01, urutan 2 dari 4', { exact: true })).toBeAttached()
  await expect(form.getByRole('button', { name: 'Pindahkan Cuci 01, urutan 2 dari 4' })).toBeFocused()
  await page.keyboard.press('ArrowDown')
  await page.keyboard.press('ArrowUp')
  await page.keyboard.press('ArrowUp')
  await page.keyboard.press('ArrowUp')
  await expect(form.getByRole('button', { name: /^Pindahkan/ }).first()).toHaveAccessibleName(/Cuci 01/)

  const handle = form.getByRole('button', { name: /^Pindahkan Mesin 07/ })
  const from = await handle.boundingBox()
  const to = await form.getByRole('button', { name: /^Pindahkan Cuci 02/ }).boundingBox()
  if (!from || !to) throw new Error('no handles')
  await page.mouse.move(from.x + 20, from.y + 20)
  await page.mouse.down()
  await page.mouse.move(from.x + 20, from.y - 10, { steps: 4 })
  await page.mouse.move(to.x + 20, to.y + 20, { steps: 8 })
  await page.mouse.up()
  await expect(form.getByRole('button', { name: /^Pindahkan/ }).nth(1)).toHaveAccessibleName(/Mesin 07/)
  await expectFineScreen(page)

  // Somebody else adds a machine meanwhile.
  await newMachine(shop.idoutlet, 'Cuci 04')
  await form.getByRole('button', { name: 'Simpan urutan' }).press('Enter')
  await said(page, 'Daftar mesin baru saja berubah. Periksa urutannya, lalu simpan lagi.')
  await expect(form.getByRole('button', { name: /^Pindahkan/ })).toHaveCount(5)
  await form.getByRole('button', { name: 'Simpan urutan' }).press('Enter')
  await said(page, 'Urutan mesin sudah disimpan.')
  expect(await names(shop)).toEqual(['Cuci 01', 'Mesin 07', 'Cuci 02', 'Cuci 03', 'Cuci 04'])
})

test('lost answers add machines and a package once, and lose nothing that was typed', async ({ page }) => {
  const shop = await openMachines(page)
  await button(page, 'Tambah mesin').press('Enter')
  const form = dialog(page, 'Mesin baru')
  await form.getByLabel('Berapa mesin').fill('2')
  await form.getByLabel('Awal nama').fill('Cuci')
  let calls = 0
  await page.route('**/ops/v1/mesin/bulk', async (route) => {
    calls += 1
    if (calls === 1) await route.fetch()
    return calls < 6 ? route.abort() : route.continue()
  })
  await form.getByRole('button', { name: 'Tambah 2 mesin' }).press('Enter')
  await expect(form).toContainText('Server belum menjawab. Isian ini belum tentu tersimpan', {
    timeout: 30_000,
  })
  await page.reload()
  await expect(form.getByLabel('Awal nama')).toHaveValue('Cuci')
  await form.getByRole('button', { name: 'Tanyakan lagi' }).press('Enter')
  await said(page, '2 mesin sudah ditambahkan.')
  expect(await names(shop)).toEqual(['Cuci 01', 'Cuci 02', 'Mesin 07'])

  // A package's call has no key: before a repeat the page looks for it.
  await button(page, 'Paket').press('Enter')
  await button(page, 'Tambah paket').press('Enter')
  const paket = dialog(page, 'Paket baru')
  await paket.getByLabel('Nama paket').fill('Paket Hemat')
  await paket.getByLabel('Dibayar').fill('100000')
  await paket.getByLabel('Saldo yang didapat').fill('110000')
  let packages = 0
  await page.route('**/ops/v1/paket', async (route) => {
    if (route.request().method() !== 'POST') return route.continue()
    packages += 1
    if (packages === 1) await route.fetch()
    return route.abort()
  })
  await paket.getByRole('button', { name: 'Simpan' }).press('Enter')
  await said(page, 'Paket Hemat sudah dijual.')
  expect(packages).toBe(1)
  await expect(card(page, /Paket Hemat/)).toHaveCount(1)
})

test('a supervisor adds a package, changes it, stops selling it and sells it again', async ({ page }) => {
  const shop = await openManagement(page, { part: 'Paket' })
  await said(page, 'Belum ada paket')
  await button(page, 'Tambah paket').press('Enter')
  const form = dialog(page, 'Paket baru')
  await form.getByRole('button', { name: 'Simpan' }).press('Enter')
  await said(page, 'Tulis nama paket')
  await form.getByLabel('Nama paket').fill('Paket Hemat')
  await form.getByLabel('Dibayar').fill('100000')
  await form.getByLabel('Saldo yang didapat').fill('30000000')
  await form.getByLabel('Berlaku').fill('0')
  await form.getByRole('button', { name: 'Simpan' }).press('Enter')
  await said(page, 'Paling banyak Rp 20.000.000')
  await said(page, 'Berlaku 1 sampai 3650 hari')
  await form.getByLabel('Saldo yang didapat').fill('110000')
  await form.getByLabel('Berlaku').fill('90')
  await form.getByRole('button', { name: 'Simpan' }).press('Enter')
  await said(page, 'Paket Hemat sudah dijual.')
  await expect(card(page, /Paket Hemat/)).toContainText('Saldo Rp 110.000, bonus Rp 10.000, berlaku 90 hari')

  const open = () =>
    card(page, /Paket Hemat/)
      .getByRole('button')
      .press('Enter')
  await open()
  const change = dialog(page, 'Paket Hemat')
  await change.getByLabel('Dibayar').fill('95000')
  await page.reload()
  await expect(change.getByLabel('Dibayar')).toHaveValue('95000')
  await change.getByLabel('Berlaku').fill('')
  await change.getByRole('button', { name: 'Simpan' }).press('Enter')
  await said(page, 'Paket Hemat sudah disimpan.')
  await expect(card(page, /Paket Hemat/)).toContainText('tidak kedaluwarsa')
  await open()
  await change.getByRole('button', { name: 'Berhenti jual' }).press('Enter')
  await said(page, 'Paket Hemat berhenti dijual.')
  await page.getByText('Berhenti dijual (1)').click()
  await button(page, 'Jual lagi Paket Hemat').press('Enter')
  await said(page, 'Paket Hemat dijual lagi.')
  const { baris } = await readOps<{
    baris: { idoutlet: number; harga: number; berlaku_hari: number | null }[]
  }>('paket?limit=100')
  expect(baris.filter(({ idoutlet }) => idoutlet === shop.idoutlet)).toMatchObject([
    { harga: 95_000, quota: 110_000, berlaku_hari: null, aktif: true },
  ])
})

test('machines and packages look well at each size', async ({ page }) => {
  await page.setViewportSize(PHONE)
  const { idoutlet } = await openMachines(page)
  await ops('mesin/bulk', { idoutlet, jumlah: 8, awalan: 'Cuci', angka: 2, ukuran: '8 kg' })
  await ops('mesin/bulk', { idoutlet, jumlah: 6, awalan: 'Pengering', angka: 2, driver: 'mqtt' })
  await page.reload()
  await expect(card(page, /Pengering 06/)).toBeVisible()
  await lookAtSizes(page, 'mesin')
  await button(page, 'Ubah urutan').press('Enter')
  await lookAtSizes(page, 'mesin-urut')
  await page.keyboard.press('Escape')
  await button(page, 'Tambah mesin').press('Enter')
  const form = dialog(page, 'Mesin baru')
  await form.getByLabel('Berapa mesin').fill('6')
  await form.getByLabel('Awal nama').fill('Setrika')
  await lookAtSizes(page, 'mesin-baru')
  await page.keyboard.press('Escape')
  await dialog(page, 'Buang yang sudah diisi?').getByRole('button', { name: 'Buang' }).press('Enter')
  await card(page, /Pengering 01/)
    .getByRole('button')
    .press('Enter')
  const one = dialog(page, 'Pengering 01')
  await expect(one.getByRole('button', { name: 'Buat kunci alat' })).toBeVisible()
  await lookAtSizes(page, 'mesin-ubah')
  await one.getByRole('button', { name: 'Buat kunci alat' }).press('Enter')
  await expect(dialog(page, 'Kunci alat Pengering 01').getByRole('img').locator('path')).toHaveAttribute(
    'd',
    /^M/,
  )
  await lookAtSizes(page, 'mesin-kunci')
  await page.keyboard.press('Escape')
  await button(page, 'Paket').press('Enter')
  await expect(button(page, 'Tambah paket')).toBeVisible()
  await lookAtSizes(page, 'paket-kosong')
  await ops('paket', {
    idoutlet,
    nama: 'Paket Keluarga',
    harga: 200_000,
    quota: 225_000,
    berlaku_hari: 180,
  })
  await page.reload()
  await card(page, /Keluarga/)
    .getByRole('button')
    .press('Enter')
  await lookAtSizes(page, 'paket-ubah')
})

test('a machine is set to want coins', async ({ page }) => {
  const shop = await openMachines(page)
  const { id } = shop.world.machine
  const open = () =>
    card(page, /Mesin 07/)
      .getByRole('button')
      .click()
  await open()
  const form = dialog(page, 'Mesin 07')
  await form.getByRole('button', { name: 'Pulsa koin' }).press('Enter')
  await form.getByLabel('Jumlah pulsa koin').fill('21')
  await form.getByRole('button', { name: 'Simpan' }).press('Enter')
  await said(page, 'Tulis 1 sampai 20')
  await form.getByLabel('Jumlah pulsa koin').fill('4')
  await form.getByLabel('Lebar pulsa koin').fill('40')
  await form.getByLabel('Nilai koin').fill('5000')
  await expectFineScreen(page)
  const sent = page.waitForRequest((request) => request.url().endsWith(`/mesin/${id}`))
  await form.getByRole('button', { name: 'Simpan' }).press('Enter')
  expect((await sent).postDataJSON()).toEqual({
    cara: 'pulsa',
    pulsa: 4,
    lebar_ms: 40,
    nilai_koin: 5_000,
  })
  await said(page, 'Mesin 07 sudah disimpan.')
  const { menyala } = await readOps<{ menyala: object }>(`mesin/${id}/rincian`)
  expect(menyala).toEqual({ cara: 'pulsa', lebar_ms: 40, jeda_ms: 100, sense_s: 60, pulsa: 4 })
  // What was saved is shown.
  await open()
  await expect(form.getByLabel('Jumlah pulsa koin')).toHaveValue('4')
})
