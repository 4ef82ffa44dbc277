import type { Page } from '@playwright/test'
import { machinesNow, newCustomer, newMachine, ops, topUp } from './support/api.ts'
import { openBoard } from './support/board.ts'
import { buy } from './support/buy.ts'
import { playDevice } from './support/device-sim.ts'
import { lookAtSizes } from './support/look.ts'
import { readOps } from './support/manage.ts'
import { PHONE } from './support/sizes.ts'
import { expect, test } from './support/test.ts'
import { openAsOwner, TABLET } from './support/till.ts'

const SERVICES = [{ nama: 'Bilas', durasi: 3, harga: 5_000 }]

const tile = (page: Page, name: string) => page.locator('[data-machine]').filter({ hasText: name })
const panel = (page: Page) => page.getByRole('complementary')
const inPanel = (page: Page, name: string) => panel(page).getByRole('button', { name, exact: true })
const part = (page: Page, name: string) => panel(page).getByRole('region', { name })

test.use({ viewport: TABLET })

test('a machine’s panel tells its history and its cycles', async ({ page }) => {
  const { idoutlet, world } = await openBoard(page, 'rina', { services: SERVICES })
  const customer = await newCustomer('Siti Rahma')
  await topUp(customer, idoutlet, 50_000)
  await tile(page, 'Mesin 07').click()
  await expect(part(page, 'Riwayat')).toContainText('Belum ada riwayat.')
  await expect(part(page, 'Siklus')).toContainText('0hari ini')
  await buy(customer, world)
  await expect(part(page, 'Riwayat')).toContainText('Bilas selesai')
  await expect(part(page, 'Riwayat')).toContainText('Dibayar Siti R.')
  await expect(part(page, 'Riwayat').getByRole('listitem').first()).toContainText(/^\d\d\.\d\d/)
  await expect(part(page, 'Siklus')).toContainText('1hari ini')
  // A simulated machine has no device, and a kasir neither tests nor notes a service.
  await expect(part(page, 'Perangkat')).toHaveCount(0)
  await expect(inPanel(page, 'Tes 60 detik')).toHaveCount(0)
  await expect(inPanel(page, 'Catat servis')).toHaveCount(0)
})

test('a supervisor starts a machine for a test and notes a service, also when an answer is lost', async ({
  page,
}) => {
  const { idoutlet, world } = await openBoard(page, 'hadi', { services: SERVICES })
  await ops(`mesin/${world.machine.id}`, { servis_tiap: 500 })
  const customer = await newCustomer()
  await topUp(customer, idoutlet, 50_000)
  await buy(customer, world)
  await tile(page, 'Mesin 07').click()
  await expect(part(page, 'Siklus')).toContainText('1 dari 500')
  await expect(part(page, 'Siklus')).toContainText('Belum pernah dicatat.')
  await page.route('**/ops/v1/mesin/*/servis', async (route) => {
    await route.fetch()
    await route.abort()
  })
  await inPanel(page, 'Catat servis').press('Enter')
  await expect(panel(page)).toContainText('Belum terjawab: Catat servis Mesin 07.')
  await page.unroute('**/ops/v1/mesin/*/servis')
  await panel(page).getByRole('button', { name: 'Tanyakan sekarang' }).press('Enter')
  await expect(page.getByText('Servis Mesin 07 dicatat.')).toBeVisible()
  await expect(part(page, 'Siklus')).toContainText('0 dari 500')
  await expect(part(page, 'Siklus')).toContainText(/Terakhir \d\d\/\d\d\/\d{4}/)

  await expect.poll(() => machinesNow(idoutlet)).toContain('Mesin 07 siap')
  await inPanel(page, 'Tes 60 detik').press('Enter')
  await expect(page.getByText('Mesin 07 menyala untuk tes.')).toBeVisible()
  await expect.poll(() => machinesNow(idoutlet)).toContain('Mesin 07 jalan')
  await expect(part(page, 'Riwayat')).toContainText('Tes nyala mulai')
  // A test counts nowhere.
  await expect(part(page, 'Siklus')).toContainText('0 dari 500')
})

test('pulses of a closed coin machine are tested, and its timings are changed', async ({ page }) => {
  const { idoutlet, world } = await openBoard(page, 'hadi', { services: SERVICES })
  const { id } = world.machine
  await ops(`mesin/${id}`, { cara: 'pulsa', servis_tiap: 1 })
  await tile(page, 'Mesin 07').click()
  await expect(part(page, 'Siklus')).toContainText('0 dari 1')
  await expect(part(page, 'Siklus')).not.toContainText('Saatnya servis.')
  await expect(inPanel(page, 'Tutup mesin')).toBeVisible()
  for (const name of ['Tes pulsa koin', 'Tes 60 detik', 'Ubah waktu pulsa koin'])
    await expect(inPanel(page, name)).toHaveCount(0)
  await ops(`mesin/${id}/tutup`, { alasan: 'koin macet' })
  await inPanel(page, 'Tes pulsa koin').press('Enter')
  const count = panel(page).getByLabel('Jumlah pulsa koin')
  await count.fill('6')
  await inPanel(page, 'Kirim pulsa koin').press('Enter')
  await expect(panel(page)).toContainText('Tulis 1 sampai 5')
  await count.fill('3')
  await inPanel(page, 'Kirim pulsa koin').press('Enter')
  await expect(page.getByText('Pulsa tes Mesin 07 terkirim.')).toBeVisible()
  await expect(part(page, 'Riwayat')).toContainText('Tes 3 pulsa selesai')
  await expect(part(page, 'Siklus')).toContainText('0 dari 1')
  // No more than ten a day: the server's sentence is shown where the pulses are sent.
  await ops(`mesin/${id}/uji`, { pulsa: 5 })
  await inPanel(page, 'Tes pulsa koin').press('Enter')
  await count.fill('5')
  await inPanel(page, 'Kirim pulsa koin').press('Enter')
  await expect(panel(page).getByRole('alert')).toContainText(/10 pulsa tes sehari/)
  await inPanel(page, 'Kembali').press('Enter')

  await inPanel(page, 'Ubah waktu pulsa koin').press('Enter')
  const gap = panel(page).getByLabel('Jeda antar pulsa koin, milidetik')
  await expect(gap).toHaveValue('100')
  await gap.fill('0')
  await inPanel(page, 'Simpan waktu').press('Enter')
  await expect(panel(page)).toContainText('Tulis 1 sampai 5999')
  await gap.fill('150')
  await inPanel(page, 'Simpan waktu').press('Enter')
  await expect(page.getByText('Waktu pulsa koin Mesin 07 disimpan.')).toBeVisible()
  await ops(`mesin/${id}/buka`, {})
  const customer = await newCustomer()
  await topUp(customer, idoutlet, 50_000)
  await buy(customer, world)
  await expect(part(page, 'Siklus')).toContainText('1 dari 1')
  await expect(part(page, 'Siklus')).toContainText('Saatnya servis.')
})

test('clock times are those of the outlet, for an owner of outlets in several zones', async ({ page }) => {
  const { world } = await openBoard(page, 'hadi')
  const { idowner } = world
  const place = { nama: 'Laundry Sanur', kota: 'Denpasar', latitude: -8.67, longitude: 115.21 }
  const east = await ops<{ idoutlet: number }>('outlet', { idowner, ...place, zona: 'Asia/Makassar' })
  const { id } = await newMachine(east.idoutlet, 'Cuci 01')
  await ops(`mesin/${id}/tutup`, { alasan: 'Bocor' })
  await ops(`outlet/${east.idoutlet}/tutup`, {
    alasan: 'Air mati',
    sampai: new Date(Date.now() + 3_600_000).toISOString(),
  })
  await openAsOwner(page, idowner)
  await page.goto(`${process.env.NYALA_URL}/kasir/mesin?outlet=${east.idoutlet}`)
  const there = (hours: number) => new Date(Date.now() + hours * 3_600_000).toISOString().slice(11, 13)
  await expect(page.getByText(/buka lagi/)).toContainText(new RegExp(`${there(9)}[.:]\\d\\d`))
  await tile(page, 'Cuci 01').click()
  await expect(panel(page)).toContainText(new RegExp(`sejak ${there(8)}\\.\\d\\d`))
})

test('coins that fall are on the panel, in the figures and in the file', async ({ page }) => {
  test.setTimeout(150_000)
  const { idoutlet } = await openBoard(page, 'hadi', { services: SERVICES })
  const { id } = await ops<{ id: number }>('mesin', {
    idoutlet,
    nama: 'Pengering 04',
    driver: 'mqtt',
    nilai_koin: 5_000,
  })
  await tile(page, 'Mesin 07').click()
  await expect(part(page, 'Siklus')).toBeVisible()
  await expect(part(page, 'Koin masuk')).toHaveCount(0)
  // The first coin comes soon, and is counted at once; a board counts further ones once a minute.
  const stop = playDevice(id, '--coins', '600')
  try {
    const counted = async () => (await readOps<{ koin: number }>(`mesin/${id}`)).koin
    await expect.poll(counted, { timeout: 90_000 }).toBeGreaterThan(0)
  } finally {
    await stop()
  }
  const { koin } = await readOps<{ koin: number }>(`mesin/${id}`)
  const worth = `Rp ${(koin * 5_000).toLocaleString('id-ID')}`
  await page.reload()
  await tile(page, 'Pengering 04').click()
  await expect(part(page, 'Koin masuk')).toContainText(`${koin} koin, ${worth}`)
  await page.getByRole('link', { name: 'Ringkasan' }).click()
  await page.getByRole('button', { name: 'Hari ini', exact: true }).click()
  await expect(page.getByRole('region', { name: 'Koin di mesin' })).toContainText(worth)
  const { baris } = await readOps<{ baris: { koin: number }[] }>(`laporan/harian?idoutlet=${idoutlet}`)
  expect(baris[0]?.koin).toBe(koin)
})

/** A device with troubles, which a played one does not have. */
const diagnose = (page: Page) =>
  page.route('**/ops/v1/mesin/*/rincian', async (route) => {
    const answer = await route.fetch()
    const body = (await answer.json()) as { data: { menyala: object; perangkat: object | null } }
    Object.assign(body.data.menyala, { cara: 'pulsa' })
    if (body.data.perangkat) {
      Object.assign(body.data.perangkat, {
        bisa: ['coin'],
        sebab_boot: 'brownout',
        hilang_hari_ini: 12,
        hilang_tujuh_hari: 40,
        jawab_ms: 840,
        ditolak_tujuh_hari: 3,
        ditolak_at: new Date(Date.now() - 3_600_000).toISOString(),
        sebab_tolak: 'terputus',
      })
    }
    await route.fulfill({ response: answer, json: body })
  })

test('the panel with a device looks well at each size', async ({ page }) => {
  await page.setViewportSize(PHONE)
  const { idoutlet } = await openBoard(page, 'hadi', { services: SERVICES })
  const { id } = await ops<{ id: number }>('mesin', { idoutlet, nama: 'Pengering 04', driver: 'mqtt' })
  const stop = playDevice(id)
  try {
    await expect.poll(() => machinesNow(idoutlet), { timeout: 60_000 }).toContain('Pengering 04 siap')
    await diagnose(page)
    await page.reload()
    await tile(page, 'Pengering 04').click()
    const device = page.getByRole('region', { name: 'Perangkat' })
    // A dialog, or beside the board where there is room.
    await lookAtSizes(page, 'papan-rincian', async () => {
      for (const text of [
        'Terdengar',
        'Papan ini tidak bisa mengirim pulsa koin. Pasang firmware baru.',
        'hitung koin',
        'tegangan listrik turun',
        '12 hari ini, 40 dalam 7 hari',
        '0,8 detik',
        'listrik putus saat mengirim koin',
      ])
        await expect(device).toContainText(text)
    })
    await lookAtSizes(page, 'papan-perangkat', () => device.scrollIntoViewIfNeeded())
    // The panel asks again and again: the last answer must not come after the test's end.
    await page.unrouteAll({ behavior: 'wait' })
  } finally {
    await stop()
  }
})
