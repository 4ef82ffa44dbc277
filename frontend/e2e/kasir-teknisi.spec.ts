import type { Page } from '@playwright/test'
import { newCustomer, ops, topUp } from './support/api.ts'
import { expectFineScreen } from './support/axe.ts'
import { buy } from './support/buy.ts'
import { dialog, openManagement, readOps } from './support/manage.ts'
import { expect, test } from './support/test.ts'
import {
  button,
  callAt,
  choosePins,
  lock,
  logIn,
  openShop,
  PIN,
  type Shop,
  scanAt,
  TABLET,
} from './support/till.ts'

const SERVICES = [{ nama: 'Bilas', durasi: 3, harga: 5_000 }]
const BUDI = '975310'

const panel = (page: Page) => page.getByRole('complementary')
const inPanel = (page: Page, name: string) => panel(page).getByRole('button', { name, exact: true })

/** A shop where the technician Budi is logged in at the tablet. */
async function openAsTechnician(page: Page): Promise<Shop> {
  const shop = await openShop(page, { services: SERVICES })
  await choosePins(shop)
  const { idoutlet } = shop
  const budi = await ops<{ id: number; pin_awal: string }>('petugas', {
    nama: 'Budi',
    role: 'teknisi',
    idoutlet,
  })
  await callAt(page, 'masuk', { idpetugas: budi.id, pin: budi.pin_awal, pin_baru: BUDI })
  await page.reload()
  await logIn(page, 'Budi Teknisi', BUDI)
  return shop
}

test.use({ viewport: TABLET })

test('a technician at the till has the board, and neither shift nor money nor customers', async ({
  page,
}) => {
  const refused: string[] = []
  page.on('response', (answer) => {
    if (answer.status() === 403) refused.push(answer.url())
  })
  const { idoutlet, world } = await openAsTechnician(page)
  await expect(page).toHaveURL(/\/kasir\/mesin/)
  const menu = page.getByRole('navigation', { name: 'Menu kasir' })
  await expect(menu.getByRole('link')).toHaveText(['Mesin'])
  for (const path of ['', 'transaksi', 'shift', 'perhatian', 'kelola', 'ringkasan']) {
    await page.goto(`${process.env.NYALA_URL}/kasir/${path}`)
    await expect(page).toHaveURL(/\/kasir\/mesin/)
    await expect(page.locator('[data-machine]')).toHaveCount(1)
  }
  await page.locator('[data-machine]').click()
  const customer = await newCustomer('Siti Rahma')
  await topUp(customer, idoutlet, 50_000)
  await buy(customer, world)
  const history = panel(page).getByRole('region', { name: 'Riwayat' })
  await expect(history).toContainText('Bilas selesai')
  await expect(history).toContainText('Dibayar')
  await expect(page.getByText('Siti')).toHaveCount(0)
  await expect(page.getByText('Rp')).toHaveCount(0)
  await expectFineScreen(page)
  expect(refused).toEqual([])

  // What a technician does there, and nothing else.
  await expect(inPanel(page, 'Hentikan')).toHaveCount(0)
  await inPanel(page, 'Catat servis').press('Enter')
  await expect(page.getByText('Servis Mesin 07 dicatat.')).toBeVisible()
  await inPanel(page, 'Tutup mesin').press('Enter')
  await panel(page).getByRole('button', { name: 'Rusak' }).press('Enter')
  await inPanel(page, 'Tutup mesin').press('Enter')
  await expect(page.getByText('Mesin 07 ditutup.')).toBeVisible()
  await inPanel(page, 'Buka mesin').press('Enter')
  await expect(page.getByText('Mesin 07 dibuka.')).toBeVisible()
  await scanAt(page, `NYC1.${'a'.repeat(40)}`)
  await expect(page.getByText('Teknisi tidak melayani pelanggan. Isi saldo lewat kasir.')).toBeVisible()
  expect(refused).toEqual([])

  // The next person has the till.
  await lock(page)
  await logIn(page, 'Rina', PIN.rina)
  await expect(menu.getByRole('link', { name: 'Shift' })).toBeVisible()
})

test('a supervisor makes a technician, whose first PIN logs in', async ({ page }) => {
  const { idoutlet } = await openManagement(page, { part: 'Petugas' })
  await button(page, 'Tambah petugas').press('Enter')
  const form = dialog(page, 'Petugas baru')
  await form.getByLabel('Nama').fill('Budi')
  await form.getByRole('button', { name: 'Teknisi' }).press('Enter')
  await expect(form).toContainText('Tidak melihat uang dan pelanggan.')
  await expectFineScreen(page)
  await form.getByRole('button', { name: 'Tambah petugas' }).press('Enter')
  const shown = dialog(page, 'PIN awal Budi')
  const pin = (await shown.getByText(/^\d{6}$/).textContent()) ?? ''
  await shown.getByRole('button', { name: 'Selesai' }).press('Enter')
  // Tests beside this one hire people, too.
  const { baris } = await readOps<{ baris: { idoutlet: number; nama: string; role: string }[] }>(
    'petugas?limit=100',
  )
  const hired = baris.find((one) => one.idoutlet === idoutlet && one.nama === 'Budi')
  expect(hired?.role).toBe('teknisi')
  await lock(page)
  await logIn(page, /Budi/, pin)
  await expect(page.getByText('PIN baru Budi').first()).toBeVisible()
})
