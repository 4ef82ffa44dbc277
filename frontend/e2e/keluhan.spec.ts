import type { Page } from '@playwright/test'
import { type Customer, newCustomer, newWorld, ops, topUp, type World } from './support/api.ts'
import { buy } from './support/buy.ts'
import { look } from './support/look.ts'
import { expect, openAs, test, toastOf } from './support/test.ts'

async function used(): Promise<{ world: World; customer: Customer; receiptNumber: string }> {
  const world = await newWorld([{ nama: 'Cuci Kilat', durasi: 2_130, harga: 15_000 }])
  const customer = await newCustomer('Siti Rahmawati')
  await topUp(customer, world.idoutlet, 100_000)
  const { receiptNumber } = await buy(customer, world)
  return { world, customer, receiptNumber }
}

async function openUse(page: Page): Promise<void> {
  await page.getByRole('main').getByRole('listitem').filter({ hasText: '-Rp 15.000' }).click()
  await expect(page.getByRole('dialog', { name: 'Transaksi' })).toBeVisible()
}

const report = (page: Page) => page.getByRole('dialog', { name: 'Ada masalah' })
const state = (page: Page) => page.getByRole('region', { name: 'Laporan Anda' })

test('a problem is reported once, and its state is shown', async ({ page }) => {
  const { customer } = await used()
  await openAs(page, customer, '/riwayatPage')
  await openUse(page)
  await page.getByRole('button', { name: 'Ada masalah' }).click()
  const send = report(page).getByRole('button', { name: 'Kirim laporan' })
  await expect(send).toBeDisabled()
  await report(page).getByRole('button', { name: 'Berhenti di tengah' }).click()
  const note = report(page).getByRole('textbox')
  await note.fill('x'.repeat(250))
  await expect(note).toHaveValue('x'.repeat(200))
  await note.fill('Mesin mati saat membilas.')
  await look(page, 'masalah')
  await send.click()
  await expect(toastOf(page, 'Laporan terkirim')).toBeVisible()
  await expect(state(page)).toContainText('Menunggu jawaban')
  await expect(state(page)).toContainText('Mesin mati saat membilas.')
  await expect(page.getByRole('button', { name: 'Ada masalah' })).toHaveCount(0)
  await look(page, 'masalah-menunggu')
})

test('the answer is in the history: the money is back', async ({ page }) => {
  const { customer, receiptNumber } = await used()
  await openAs(page, customer, '/riwayatPage')
  await openUse(page)
  await page.getByRole('button', { name: 'Ada masalah' }).click()
  await report(page).getByRole('button', { name: 'Mesin tidak jalan' }).click()
  const sent = page.waitForResponse('**/transaksi/masalah')
  await report(page).getByRole('button', { name: 'Kirim laporan' }).click()
  const { data } = await (await sent).json()
  await expect(state(page)).toBeVisible()
  await ops('refund', {
    idtransaksi: receiptNumber,
    nominal: 15_000,
    alasan: 'mesin berhenti',
    idkeluhan: data.idkeluhan,
  })
  await page.reload()
  await openUse(page)
  await expect(state(page)).toContainText('Diterima')
  await expect(state(page)).toContainText('Rp 15.000 sudah kembali ke saldo')
  await look(page, 'masalah-diterima')
})

test('a report whose answer was lost is there all the same', async ({ page }) => {
  const { customer } = await used()
  await openAs(page, customer, '/riwayatPage')
  await openUse(page)
  await page.getByRole('button', { name: 'Ada masalah' }).click()
  await report(page).getByRole('button', { name: 'Lainnya' }).click()
  await page.route('**/transaksi/masalah', async (route) => {
    await route.fetch()
    await route.abort()
  })
  const send = report(page).getByRole('button', { name: 'Kirim laporan' })
  await send.click()
  await expect(toastOf(page, 'Tidak dapat terhubung')).toBeVisible()
  await page.unrouteAll()
  await send.click()
  await expect(report(page)).toHaveCount(0)
  await expect(state(page)).toContainText('Menunggu jawaban')
})
