import type { Page } from '@playwright/test'
import { newCustomer, topUp } from './support/api.ts'
import { lookAtSizes } from './support/look.ts'
import { askMove, refuseAt } from './support/move.ts'
import { PHONE } from './support/sizes.ts'
import { expect, test } from './support/test.ts'
import {
  button,
  codeOf,
  lock,
  logIn,
  openTill,
  PIN,
  scanAt,
  TABLET,
  typeNumber,
  withPhone,
} from './support/till.ts'

test.use({ viewport: TABLET })

const dialog = (page: Page) => page.getByRole('dialog', { name: 'Pindah nomor' })

test('a lost number moves to the scanned one in a day, at each size', async ({ page, context }) => {
  await page.setViewportSize(PHONE)
  const { idoutlet } = await openTill(page)
  const old = await newCustomer('Siti Rahma')
  await topUp(old, idoutlet, 30_000)
  const { phone } = await withPhone(context, 'Siti Rahma')
  await scanAt(page, await codeOf(phone))
  await button(page, 'Pindah nomor').click()
  await typeNumber(page, `0${old.telp}`)
  await lookAtSizes(page, 'pindah-nomor')
  await page.keyboard.press('Enter')
  await expect(dialog(page).getByText(/pindah 24 jam lagi, kecuali pemilik nomor lama menolak/)).toBeVisible()
  await lookAtSizes(page, 'pindah')
  await button(page, 'Minta pindah').click()
  await page.keyboard.type(PIN.hadi)
  await expect(
    dialog(page).getByText(/^Permintaan pindah dicatat\. Terjadi \d\d\/\d\d\/\d{4} \d\d:\d\d/),
  ).toBeVisible()
  await lookAtSizes(page, 'pindah-diminta')
  await button(page, 'Selesai').click()
  await expect(page.getByText('Ketik nomor WhatsApp')).toBeAttached()
})

test('what cannot move is said plainly', async ({ page, context }) => {
  const { idoutlet } = await openTill(page)
  await lock(page)
  await logIn(page, 'Hadi', PIN.hadi)
  await expect(page.getByText('Ketik nomor WhatsApp')).toBeAttached()
  const old = await newCustomer('Siti Rahma')
  await topUp(old, idoutlet, 30_000)
  const { phone, customer } = await withPhone(context, 'Siti Rahma')
  await scanAt(page, await codeOf(phone))
  await button(page, 'Pindah nomor').click()
  await typeNumber(page, `0${customer.telp}`)
  await page.keyboard.press('Enter')
  await button(page, 'Minta pindah').click()
  await expect(dialog(page).getByText('Nomor lama dan baru sama')).toBeVisible()
  await button(page, 'Ubah nomor').click()
  await button(page, 'Hapus').click()
  await typeNumber(page, `0${old.telp}`)
  await page.keyboard.press('Enter')
  await button(page, 'Minta pindah').click()
  await expect(dialog(page).getByText(/Permintaan pindah dicatat/)).toBeVisible()
  await button(page, 'Selesai').click()
  await expect(page.getByText('Ketik nomor WhatsApp')).toBeAttached()

  await scanAt(page, await codeOf(phone))
  await button(page, 'Pindah nomor').click()
  await typeNumber(page, `0${old.telp}`)
  await page.keyboard.press('Enter')
  await button(page, 'Minta pindah').click()
  await expect(dialog(page).getByText('Pindah sudah diminta')).toBeVisible()
})

test('a move that the old number refuses needs a person, at each size', async ({ page, context }) => {
  await page.setViewportSize(PHONE)
  const shop = await openTill(page)
  const asked = await askMove(shop, context)
  const phone = await context.newPage()
  await refuseAt(phone, asked)
  await expect(phone.getByRole('heading', { name: 'Pindah nomor dibatalkan' })).toBeVisible()
  await page.getByRole('link', { name: /Perhatian$/ }).click()
  await expect(
    page
      .getByRole('region', { name: 'Lihat sebentar lagi' })
      .getByText(/^Pemilik nomor lama menolak pindah nomor sejak \d\d\.\d\d/),
  ).toBeVisible()
  await lookAtSizes(page, 'pindah-ditolak')
})
