import type { Page } from '@playwright/test'
import { newCustomer } from './support/api.ts'
import { look, lookAtSizes } from './support/look.ts'
import { makeBill, openWith, payLostBill, play } from './support/qris.ts'
import { PHONE } from './support/sizes.ts'
import { expect, test } from './support/test.ts'
import { amountsSold, button, openAsOwner, TABLET } from './support/till.ts'

test.use({ viewport: TABLET })

const entry = (page: Page) => page.getByRole('button', { name: /Pembayaran QRIS tertahan sejak/ })
const held = (page: Page) => page.getByRole('dialog', { name: 'Pembayaran QRIS tertahan' })

test('another sum is held, and the owner ends it with a note', async ({ page }) => {
  const { idoutlet, world } = await openWith(page, 'simulated')
  const id = await makeBill(page, await newCustomer('Siti Rahma'))
  await play(id, { aksi: 'bayar', jumlah: 45_000 })
  await expect(page.getByRole('heading', { name: 'Pembayaran tertahan' })).toBeVisible()
  expect(await amountsSold(idoutlet)).toEqual([])
  await page.getByRole('link', { name: /Perhatian$/ }).click()
  await entry(page).click()
  await expect(held(page).getByText('Pemilik yang menyelesaikannya.')).toBeVisible()
  await page.keyboard.press('Escape')

  await openAsOwner(page, world.idowner)
  await page.getByRole('link', { name: /Perhatian$/ }).click()
  await entry(page).click()
  await expect(held(page).getByText(id)).toBeVisible()
  const settle = held(page).getByRole('button', { name: 'Sudah diselesaikan' }).first()
  await settle.click()
  await expect(held(page).getByText('Tulis catatannya')).toBeVisible()
  await held(page).getByLabel('Catatan').first().fill('Dikembalikan lewat transfer.')
  await settle.click()
  await expect(page.getByText('Pembayaran ditandai selesai.')).toBeVisible()
  await expect(held(page).getByText(id)).toHaveCount(0)
  await page.keyboard.press('Escape')
  await expect(entry(page)).toHaveCount(0)
})

/** The server's first owner, to whom a payment without a bill belongs when one key serves all owners. */
const FIRST_OWNER = 1

test('a payment without a bill is ended by its number', async ({ page }) => {
  await openWith(page, 'simulated')
  const id = `NYL${crypto.randomUUID().replaceAll('-', '').slice(0, 20).toUpperCase()}`
  await payLostBill(id, 50_000)
  await openAsOwner(page, FIRST_OWNER)
  await page.getByRole('link', { name: /Perhatian$/ }).click()
  await entry(page).click()
  // The list does not have it: the number is in the provider's account.
  const settle = held(page).getByRole('button', { name: 'Sudah diselesaikan' })
  await held(page).getByLabel('No Tagihan lain').fill('NYL123')
  await held(page).getByLabel('Catatan').fill('Dikembalikan lewat transfer.')
  await settle.click()
  await expect(held(page).getByText('Tulis NYL dan 20 huruf atau angka')).toBeVisible()
  await held(page)
    .getByLabel('No Tagihan lain')
    .fill(`${id.slice(0, -1)}${id.endsWith('Z') ? 'Y' : 'Z'}`)
  await settle.click()
  await expect(held(page).getByText('Tagihan tidak ditemukan')).toBeVisible()
  await held(page).getByLabel('No Tagihan lain').fill(id.toLowerCase())
  await look(page, 'qris-tanpa-tagihan')
  await settle.click()
  await expect(page.getByText('Pembayaran ditandai selesai.')).toBeVisible()
  await page.keyboard.press('Escape')
  await expect(entry(page)).toHaveCount(0)
})

test('looks well for the owner at each size', async ({ page }) => {
  const { world } = await openWith(page, 'simulated')
  const id = await makeBill(page, await newCustomer('Siti Rahma'))
  await play(id, { aksi: 'bayar', jumlah: 45_000 })
  await expect(page.getByRole('heading', { name: 'Pembayaran tertahan' })).toBeVisible()
  await page.setViewportSize(PHONE)
  await lookAtSizes(page, 'qris-tertahan-kasir')

  await openAsOwner(page, world.idowner)
  await page.getByRole('link', { name: /Perhatian$/ }).click()
  await entry(page).click()
  await expect(held(page).getByText(id)).toBeVisible()
  await lookAtSizes(page, 'qris-tertahan')
  await button(page, 'No Tagihan lain').press('Enter')
  await lookAtSizes(page, 'qris-tertahan-lain')
  await page.keyboard.press('Escape')

  await page.getByRole('link', { name: 'Kelola' }).click()
  await button(page, 'Outlet').click()
  await button(page, 'Ubah data outlet').click()
  await page
    .getByRole('dialog', { name: 'Data outlet' })
    .getByRole('button', { name: 'Tidak dipakai' })
    .press('Enter')
  await lookAtSizes(page, 'kelola-qris')
})
