import type { Page } from '@playwright/test'
import { newCustomer, newTelp, ops } from './support/api.ts'
import { expectFineScreen } from './support/axe.ts'
import { buy } from './support/buy.ts'
import { playDevices } from './support/device-sim.ts'
import { lookAtSizes } from './support/look.ts'
import { dialog, readOps, said } from './support/manage.ts'
import { nyala } from './support/nyala.ts'
import { PHONE } from './support/sizes.ts'
import { expect, test } from './support/test.ts'
import { button, callAt, TABLET, tokenOf } from './support/till.ts'

interface Owner {
  idowner: number
  id: number
  pin_awal: string
  tautan: string
}

const PIN = { sari: '271828', rina: '246810' }

/** Types a first PIN, and makes an own one. */
async function makePin(page: Page, name: string, first: string, own: string): Promise<void> {
  await expect(page.getByText(`PIN ${name}`).first()).toBeVisible()
  await page.keyboard.type(first)
  await expect(page.getByText(`PIN baru ${name}`).first()).toBeVisible()
  await page.keyboard.type(own)
  await expect(page.getByText('Ulangi PIN baru').first()).toBeVisible()
  await page.keyboard.type(own)
}

/** An owner who was just made, in their own browser, at the wizard. */
async function openWizard(page: Page): Promise<Owner> {
  const owner = JSON.parse(nyala(['owner', 'add', '--nama', 'Sari', '--telp', `0${newTelp()}`])) as Owner
  await page.goto(`${process.env.NYALA_URL}${owner.tautan}`)
  await makePin(page, 'Sari', owner.pin_awal, PIN.sari)
  await page.getByRole('link', { name: 'Kelola' }).click()
  await said(page, 'Belum ada outlet yang Anda kelola.')
  await button(page, 'Buka outlet baru').press('Enter')
  await expect(page.getByRole('heading', { name: 'Outlet & lokasi' })).toBeVisible()
  return owner
}

const heading = (page: Page, name: string) =>
  expect(page.getByRole('heading', { name, level: 1 })).toBeVisible()

async function fillOutlet(page: Page): Promise<void> {
  await page.getByLabel('Nama outlet').fill('Laundry Melati')
  await page.getByLabel('Kota').selectOption('Yogyakarta')
  await page.getByLabel('Alamat').fill('Jl. Kaliurang km 5 no. 12')
}

test.use({ viewport: TABLET })

test('an owner opens a shop of 14 machines by the wizard alone, from the link to the first sale', async ({
  page,
  browser,
}, info) => {
  test.slow()
  await page.addInitScript(() => {
    window.print = () => document.documentElement.setAttribute('data-printed', '')
  })
  const owner = await openWizard(page)

  // 1: the outlet. What is wrong is said first.
  await button(page, 'Lanjut ke layanan').press('Enter')
  await said(page, 'Tulis nama outlet')
  await said(page, 'Pilih kotanya')
  await fillOutlet(page)
  await page.getByLabel('Hari mulai').fill('13')
  await page.keyboard.press('Enter')
  await said(page, 'Jam 00.00 sampai 12.00')
  await page.getByLabel('Hari mulai').fill('04.00')
  await page.keyboard.press('Enter')

  // 2: services with prices at night.
  await heading(page, 'Layanan & harga')
  const idoutlet = Number(new URL(page.url()).searchParams.get('outlet'))
  await page.getByLabel('Harga Cuci Kilat').fill('0')
  await button(page, 'Lanjut ke mesin').press('Enter')
  await said(page, 'Harga Rp 1 sampai Rp 20.000.000')
  await page.getByLabel('Harga Cuci Kilat').fill('13000')
  await page.getByRole('checkbox', { name: /Kering 45/ }).press('Space')
  await expect(page.getByRole('region', { name: 'Harga malam' })).toContainText('Cuci Reguler Rp 9.000')
  await button(page, 'Lanjut ke mesin').press('Enter')
  await heading(page, 'Mesin')

  // 3: 14 machines, after a reload, which goes on in the same step.
  await page.reload()
  await heading(page, 'Mesin')
  const add = async (kind: string, count: number) => {
    for (let i = 0; i < count; i++) await button(page, `Tambah ${kind}`).press('Enter')
  }
  await add('Mesin cuci 8 kg', 6)
  await add('Mesin cuci 14 kg', 2)
  await add('Pengering', 6)
  await said(page, '14 mesin')
  await expect(page.getByRole('region', { name: 'Begini papan Anda' })).toContainText('Cuci 08')
  await button(page, 'Lanjut ke perangkat').press('Enter')

  // 4: the keys go into the devices, which appear by themselves and are tested.
  await heading(page, 'Perangkat & kunci')
  await said(page, '0 dari 14 terhubung')
  const saved = page.waitForEvent('download')
  await button(page, 'Unduh kunci').press('Enter')
  const keys = info.outputPath('keys.jsonl')
  await (await saved).saveAs(keys)
  const stop = playDevices(keys)
  try {
    await expect(page.getByText('14 dari 14 terhubung', { exact: true })).toBeVisible({ timeout: 60_000 })
    await button(page, 'Tes nyala 14 mesin').press('Enter')
    await expect(page.getByText('Tes nyala berhasil', { exact: true })).toHaveCount(14, { timeout: 90_000 })
    await button(page, 'Lanjut ke petugas').press('Enter')

    // 5: a kasir, a tablet, the stickers.
    await heading(page, 'Petugas & tablet')
    await expect(button(page, 'Buka Laundry Melati')).toBeDisabled()
    await button(page, 'Petugas').press('Enter')
    await dialog(page, 'Petugas baru').getByLabel('Nama').fill('Rina')
    await page.keyboard.press('Enter')
    const pin =
      (await dialog(page, 'PIN awal Rina')
        .getByText(/^\d{6}$/)
        .textContent()) ?? ''
    await page.keyboard.press('Escape')
    await button(page, 'Tablet').press('Enter')
    await dialog(page, 'Perangkat baru').getByLabel('Nama perangkat').fill('Tablet depan')
    await page.keyboard.press('Enter')
    const code = dialog(page, 'Kode pasang Tablet depan').getByText(/^\w{4} \w{4}$/)
    const kode = ((await code.textContent()) ?? '').replace(' ', '')
    await page.keyboard.press('Escape')
    const tablet = await (await browser.newContext()).newPage()
    await tablet.goto(`${process.env.NYALA_URL}/kasir/pasang#${kode}`)
    await tablet.getByRole('button', { name: 'Rina' }).click()
    await makePin(tablet, 'Rina', pin, PIN.rina)
    await expect(tablet.getByRole('button', { name: /^Buka shift/ })).toBeVisible()
    await button(page, 'Cetak 14 stiker, 2 lembar').press('Enter')
    await expect(page.locator('html[data-printed]')).toBeAttached()

    // Before that, nobody can buy.
    const customer = await newCustomer()
    const { mesin } = await readOps<{ mesin: { id: number; nama: string }[] }>(`mesin?idoutlet=${idoutlet}`)
    expect(mesin.map(({ nama }) => nama).slice(0, 8)).toEqual(
      Array.from({ length: 8 }, (_, i) => `Cuci ${String(i + 1).padStart(2, '0')}`),
    )
    const [sticker] = await readOps<{ id: number; kode: string; qr: string; nama: string }[]>(
      `stiker?id=${mesin[0]?.id}`,
    )
    if (!sticker) throw new Error('no sticker')
    const world = { idowner: owner.idowner, idoutlet, outlet: 'Laundry Melati', machine: sticker }
    await expect(page.getByRole('region', { name: 'Siap buka' })).toContainText('8 dari 8')
    await expectFineScreen(page)
    await button(page, 'Buka Laundry Melati').press('Enter')
    await said(page, 'Laundry Melati sudah dibuka.')

    // The first sale: money at the tablet, and a wash with it.
    await tablet.getByRole('button', { name: /^Buka shift/ }).click()
    await expect(tablet.getByText('Modal di laci')).toBeHidden()
    const sale = { telp: `0${customer.telp}`, idoutlet, nominal: 50_000, cara_bayar: 'tunai' }
    await callAt(tablet, 'topup', sale, await tokenOf(tablet))
    expect((await buy(customer, world)).answer.status).toBe(200)
    await tablet.context().close()
  } finally {
    await stop()
  }
})

test('a lost answer makes one outlet, its services and its machines once', async ({ page }) => {
  const owner = await openWizard(page)
  await fillOutlet(page)
  const lose = async (path: string) => {
    let lost = false
    await page.route(path, async (route) => {
      if (route.request().method() !== 'POST' || lost) return route.continue()
      lost = true
      await route.fetch()
      await route.abort()
    })
  }
  await lose('**/ops/v1/outlet')
  await lose('**/ops/v1/layanan')
  await lose('**/ops/v1/mesin/bulk')
  await button(page, 'Lanjut ke layanan').press('Enter')
  await heading(page, 'Layanan & harga')
  await button(page, 'Lanjut ke mesin').press('Enter')
  await heading(page, 'Mesin')
  await button(page, 'Tambah Pengering').press('Enter')
  await button(page, 'Tambah Pengering').press('Enter')
  await button(page, 'Lanjut ke perangkat').press('Enter')
  await heading(page, 'Perangkat & kunci')
  const outlets = await readOps<{ idoutlet: number; nama: string }[]>('outlet')
  const made = outlets.filter(({ idoutlet }) => page.url().includes(`outlet=${idoutlet}&`))
  expect(made).toHaveLength(1)
  const id = made[0]?.idoutlet
  expect((await readOps<unknown[]>(`layanan?idoutlet=${id}`)).length).toBe(5)
  const { mesin } = await readOps<{ mesin: { nama: string }[] }>(`mesin?idoutlet=${id}`)
  expect(mesin.map(({ nama }) => nama)).toEqual(['Pengering 01', 'Pengering 02'])
  expect(owner.idowner).toBeGreaterThan(0)
})

test('the wizard goes on in another browser, where something is missing', async ({ page, browser }) => {
  const owner = await openWizard(page)
  await fillOutlet(page)
  // Without network nothing is sent, and what was typed is kept over a reload.
  await page.context().setOffline(true)
  await expect(button(page, 'Lanjut ke layanan')).toBeDisabled()
  await said(page, 'Tidak ada sambungan, belum bisa disimpan.')
  await page.context().setOffline(false)
  await page.reload()
  await expect(page.getByLabel('Nama outlet')).toHaveValue('Laundry Melati')
  await page.route('**/ops/v1/outlet', (route) =>
    route.fulfill({ status: 400, json: { status: 400, message: 'zona tidak dikenal', data: null } }),
  )
  await button(page, 'Lanjut ke layanan').press('Enter')
  await said(page, 'Zona tidak dikenal')
  await page.unrouteAll({ behavior: 'wait' })
  await button(page, 'Lanjut ke layanan').press('Enter')
  await heading(page, 'Layanan & harga')
  await button(page, 'Simpan, tutup').press('Enter')
  await said(page, 'Sedang disiapkan')

  const { kode } = await ops<{ kode: string }>('perangkat', { nama: 'Laptop', idpetugas: owner.id })
  const laptop = await (await browser.newContext({ viewport: { width: 390, height: 844 } })).newPage()
  await laptop.goto(`${process.env.NYALA_URL}/kasir/pasang#${kode}`)
  await expect(laptop.getByText('PIN Sari').first()).toBeVisible()
  await laptop.keyboard.type(PIN.sari)
  await laptop.getByRole('link', { name: 'Kelola' }).click()
  await laptop.getByRole('button', { name: 'Outlet', exact: true }).click()
  await laptop.getByRole('button', { name: 'Lanjut menyiapkan' }).click()
  await heading(laptop, 'Layanan & harga')
  await laptop.context().close()
})

test('a supervisor has no wizard, whatever the address', async ({ page }) => {
  const { idowner } = JSON.parse(
    nyala(['owner', 'add', '--nama', 'Sari', '--telp', `0${newTelp()}`]),
  ) as Owner
  const place = { nama: 'Laundry Kenanga', kota: 'Bandung', latitude: -6.9, longitude: 107.6 }
  const { idoutlet } = await ops<{ idoutlet: number }>('outlet', { idowner, ...place })
  const hadi = await ops<{ id: number; pin_awal: string }>('petugas', {
    nama: 'Hadi',
    role: 'supervisor',
    idoutlet,
  })
  const { kode } = await ops<{ kode: string }>('perangkat', { nama: 'Tablet', idoutlet })
  await page.goto(`${process.env.NYALA_URL}/kasir/pasang#${kode}`)
  await page.getByRole('button', { name: /Hadi/ }).click()
  await makePin(page, 'Hadi', hadi.pin_awal, '135791')
  await expect(page.getByRole('link', { name: 'Kelola' })).toBeVisible()
  await page.goto(`${process.env.NYALA_URL}/kasir/kelola/buka`)
  await expect(page).toHaveURL(/\/kasir$/)
})

test('the wizard looks well at each size', async ({ page }) => {
  test.slow()
  await page.setViewportSize(PHONE)
  await openWizard(page)
  await fillOutlet(page)
  await lookAtSizes(page, 'buka-1')
  await button(page, 'Lanjut ke layanan').press('Enter')
  await heading(page, 'Layanan & harga')
  await expect(page.getByLabel('Harga Kering 45')).toBeVisible()
  await lookAtSizes(page, 'buka-2')
  await button(page, 'Lanjut ke mesin').press('Enter')
  await heading(page, 'Mesin')
  for (const kind of ['Mesin cuci 8 kg', 'Mesin cuci 14 kg', 'Pengering']) {
    for (let i = 0; i < 3; i++) await button(page, `Tambah ${kind}`).press('Enter')
  }
  await lookAtSizes(page, 'buka-3')
  await button(page, 'Lanjut ke perangkat').press('Enter')
  await heading(page, 'Perangkat & kunci')
  const idoutlet = Number(new URL(page.url()).searchParams.get('outlet'))
  await ops('mesin/bulk', { idoutlet, jumlah: 2, awalan: 'Setrika', driver: 'sim', jenis: 'lain' })
  await expect(page.getByText('2 dari 11 terhubung', { exact: true })).toBeVisible()
  await button(page, 'Tes nyala Setrika 1').press('Enter')
  await expect(page.getByText('Tes nyala berhasil', { exact: true })).toBeVisible()
  await lookAtSizes(page, 'buka-4')
  await button(page, 'Lanjut ke petugas').press('Enter')
  await heading(page, 'Petugas & tablet')
  await ops('petugas', { nama: 'Rina', role: 'kasir', idoutlet })
  await expect(page.getByText('PIN awal belum diganti')).toBeVisible()
  await lookAtSizes(page, 'buka-5')
})
