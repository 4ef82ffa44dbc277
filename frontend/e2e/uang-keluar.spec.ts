import type { Page } from '@playwright/test'
import { newCustomer, topUp } from './support/api.ts'
import { look } from './support/look.ts'
import { expect, openAs, test, toastOf } from './support/test.ts'
import { callAt, choosePins, codeOf, openShop, openTill, PIN, type Shop, withPhone } from './support/till.ts'

/** Hadi, the supervisor, logs in at the tablet, outside its page; returns his token. */
async function supervisor({ page, hadi }: Shop): Promise<string> {
  const { token } = await callAt<{ token: string }>(page, 'masuk', { idpetugas: hadi.id, pin: PIN.hadi })
  return token
}

const rows = (phone: Page) => phone.getByRole('main').getByRole('listitem')
const detail = (phone: Page, title: string) => phone.getByRole('dialog', { name: title, exact: true })

test('balance that a till paid out is in the history', async ({ page, context }) => {
  const shop = await openTill(page)
  const { phone, customer } = await withPhone(context)
  const qr = await codeOf(phone)
  const token = await supervisor(shop)
  const { idoutlet, world } = shop
  const sale = { telp: `0${customer.telp}`, idoutlet, nominal: 40_000, cara_bayar: 'tunai' }
  await callAt(page, 'topup', sale, token)
  const { dibayar, hangus } = await callAt<{ dibayar: number; hangus: number }>(
    page,
    'tarik/hitung',
    { qr },
    token,
  )
  await callAt(page, 'tarik', { qr, dibayar, hangus }, token)
  await phone.goto('/riwayatPage')
  await expect(rows(phone)).toHaveCount(2)
  await expect(rows(phone).first()).toContainText(/Penarikan Saldo.*-Rp 40\.000/)
  await expect(rows(phone).first()).toContainText(world.outlet)
  await rows(phone).first().click()
  await expect(detail(phone, 'Penarikan Saldo')).toContainText('No Penarikan')
  await expect(detail(phone, 'Penarikan Saldo')).toContainText(`${world.outlet} - Bandung`)
  await look(phone, 'penarikan')
})

test('a move that a till has asked for is on the dashboard, and is refused there', async ({
  page,
  context,
}) => {
  const shop = await openShop(page)
  await choosePins(shop)
  const token = await supervisor(shop)
  const old = await newCustomer('Siti Rahma')
  await topUp(old, shop.idoutlet, 30_000)
  const { phone: newPhone } = await withPhone(context)
  const qr = await codeOf(newPhone)
  await callAt(page, 'pindah', { qr, telp: `0${old.telp}` }, token)

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
  await expect(callAt(page, 'pindah', { qr, telp: `0${old.telp}` }, token)).rejects.toThrow(
    'pemilik nomor lama menolak',
  )
})
