import { mkdirSync, writeFileSync } from 'node:fs'
import { dirname } from 'node:path'
import type { Page } from '@playwright/test'
import { newCustomer, newTelp, newWorld, ops } from './support/api.ts'
import { look } from './support/look.ts'
import { askMove, supervisor } from './support/move.ts'
import { nyala } from './support/nyala.ts'
import { expect, openAs, test, toastOf } from './support/test.ts'
import { callAt, codeOf, openTill, readyShop, withPhone } from './support/till.ts'

const rows = (phone: Page) => phone.getByRole('main').getByRole('listitem')
const detail = (phone: Page, title: string) => phone.getByRole('dialog', { name: title, exact: true })

test('balance that a till paid out is in the history', async ({ page, context }) => {
  const shop = await openTill(page)
  const { phone, customer } = await withPhone(context)
  const qr = await codeOf(phone)
  const token = await supervisor(shop)
  const { idoutlet, world } = shop
  const offer = { idoutlet, nama: 'Paket Hemat', harga: 40_000, quota: 50_000 }
  const { idpaket } = await ops<{ idpaket: number }>('paket', offer)
  const sale = { telp: `0${customer.telp}`, idoutlet, nominal: 40_000, idpaket, cara_bayar: 'tunai' }
  await callAt(page, 'topup', sale, token)
  const counted = await callAt<{ dibayar: number; hangus: number }>(page, 'tarik/hitung', { qr }, token)
  const { dibayar, hangus } = counted
  await callAt(page, 'tarik', { qr, dibayar, hangus }, token)
  await phone.goto('/riwayatPage')
  await expect(rows(phone)).toHaveCount(3)
  const paidOut = rows(phone).filter({ hasText: /Penarikan Saldo.*-Rp 40\.000/ })
  await expect(paidOut).toContainText(world.outlet)
  await expect(rows(phone).filter({ hasText: /Saldo Hangus.*-Rp 10\.000/ })).toBeVisible()
  await paidOut.click()
  await expect(detail(phone, 'Penarikan Saldo')).toContainText('No Penarikan')
  await expect(detail(phone, 'Penarikan Saldo')).toContainText(`${world.outlet} - Bandung`)
  await look(phone, 'penarikan')
})

test('a move that a till has asked for is on the dashboard, and is refused there', async ({
  page,
  context,
}) => {
  const shop = await readyShop(page)
  const { old, ask } = await askMove(shop, context)

  const phone = await context.newPage()
  await openAs(phone, old)
  const card = phone.getByRole('region', { name: 'Akun ini akan pindah nomor' })
  await expect(card).toContainText(/\d\d\/\d\d\/\d{4} \d\d:\d\d/)
  await look(phone, 'pindah-menunggu')
  await card.getByRole('button', { name: 'Bukan saya' }).click()
  await look(phone, 'pindah-tolak')
  await phone.getByRole('button', { name: 'Tolak', exact: true }).click()
  await expect(toastOf(phone, 'Pindah nomor ditolak')).toBeVisible()
  await expect(card).toHaveCount(0)
  await phone.reload()
  await expect(phone.getByText('Rp 30.000')).toBeVisible()
  await expect(card).toHaveCount(0)
  await expect(ask()).rejects.toThrow('pemilik nomor lama menolak')
})

test('a balance of another system is there after the registration', async ({ page }) => {
  const { idoutlet, outlet } = await newWorld([])
  const telp = newTelp()
  const file = test.info().outputPath('saldo.csv')
  mkdirSync(dirname(file), { recursive: true })
  writeFileSync(file, `telp,nama,saldo\n0${telp},Siti Rahma,75000\n`)
  const bring = ['import', 'saldo', file, '--outlet', String(idoutlet)]
  expect(nyala(bring)).toContain('rows: 1 sum: 75000')
  nyala([...bring, '--yes'])

  const customer = await newCustomer('Siti Rahma', telp)
  await openAs(page, customer)
  await expect(page.getByText('Rp 75.000')).toBeVisible()
  await page.getByRole('link', { name: 'Riwayat' }).click()
  await expect(rows(page)).toHaveCount(1)
  await rows(page)
    .filter({ hasText: /Saldo Awal.*\+Rp 75\.000/ })
    .click()
  await expect(detail(page, 'Saldo Awal')).toContainText('+Rp 75.000')
  await expect(detail(page, 'Saldo Awal')).toContainText(`${outlet} - Bandung`)
  await look(page, 'saldo-awal')
})
