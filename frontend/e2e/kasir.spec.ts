import type { Page } from '@playwright/test'
import { ops } from './support/api.ts'
import { expectFineScreen } from './support/axe.ts'
import { expect, test } from './support/test.ts'
import {
  button,
  codeOf,
  lock,
  logIn,
  openShop,
  PIN,
  scanAt,
  TABLET,
  typeNumber,
  withPhone,
} from './support/till.ts'

/** Logs in a member of staff who has a first PIN, and chooses a new one. */
async function firstLogin(page: Page, name: string, first: string, pin: string): Promise<void> {
  await page.getByRole('button', { name }).click()
  await page.keyboard.type(first)
  await expect(page.getByText(`PIN baru ${name}`).first()).toBeVisible()
  await page.keyboard.type(pin)
  await expect(page.getByText('Ulangi PIN baru').first()).toBeVisible()
  await page.keyboard.type(pin)
}

test('a day at the till: pairing, shift, sales, a dead network, a void, and the handover', async ({
  browser,
  context,
}) => {
  const tablet = await browser.newContext({ viewport: TABLET, locale: 'id-ID' })
  const shop = await openShop(await tablet.newPage())
  const { page } = shop
  await expectFineScreen(page)
  for (const [name, first, pin] of [
    ['Hadi', shop.hadi.pin_awal, PIN.hadi],
    ['Tono', shop.tono.pin_awal, PIN.tono],
    ['Rina', shop.rina.pin_awal, PIN.rina],
  ] as const) {
    await firstLogin(page, name, first, pin)
    await expect(page.getByText('Modal di laci')).toBeVisible()
    if (name !== 'Rina') {
      await lock(page)
    }
  }
  await page.keyboard.type('200000')
  await button(page, 'Buka shift, modal Rp 200.000').click()
  await expect(page.getByText('Ketik nomor WhatsApp')).toBeVisible()
  await expectFineScreen(page)

  // A scan, an amount and one button: the phone shows the top-up.
  const { phone } = await withPhone(context)
  await scanAt(page, await codeOf(phone))
  await expect(page.getByText('Siti R.')).toBeVisible()
  await button(page, 'Rp 50.000').click()
  await expectFineScreen(page)
  await button(page, 'Isi Rp 50.000 untuk Siti').click()
  await expect(page.getByText('Saldo Siti R. sudah masuk')).toBeVisible()
  await expectFineScreen(page)
  await expect(phone.getByText('Saldo masuk')).toBeVisible()
  await expect(phone.getByText('Rp 50.000').first()).toBeVisible()

  // The network dies after the server received the top-up: the retry carries the same key, so it is one sale.
  const keys: (string | undefined)[] = []
  await page.route('**/ops/v1/topup', async (route) => {
    keys.push(route.request().headers()['idempotency-key'])
    if (keys.length > 1) return route.continue()
    await route.fetch()
    return route.abort('connectionreset')
  })
  await button(page, 'Pelanggan berikutnya').click()
  await button(phone, 'Isi lagi').click()
  await scanAt(page, await codeOf(phone))
  await button(page, 'Rp 20.000').click()
  await button(page, 'Isi Rp 20.000 untuk Siti').click()
  await expect(page.getByText('Saldo Siti R. sudah masuk')).toBeVisible()
  await expect(page.getByText('Rp 70.000').first()).toBeVisible()
  expect(keys.length).toBeGreaterThan(1)
  expect(new Set(keys).size).toBe(1)
  await page.unroute('**/ops/v1/topup')

  // A reversal by a cashier needs a supervisor's PIN, and the money goes back.
  await page.getByRole('link', { name: 'Transaksi' }).click()
  await page
    .getByRole('button', { name: /Rp 20\.000/ })
    .first()
    .click()
  await button(page, 'Batalkan').click()
  await button(page, 'Salah jumlah').click()
  await button(page, /^Batalkan \+/).click()
  await expect(page.getByText(/PIN Hadi/).first()).toBeVisible()
  await page.keyboard.type(PIN.hadi)
  await expect(page.getByText('Top-up dibatalkan')).toBeVisible()
  await button(page, 'Selesai').click()
  await expectFineScreen(page)

  // The shift is counted blind and handed over: 200.000 + 50.000.
  await page.getByRole('link', { name: 'Shift' }).click()
  await expect(page.getByText('Rp 250.000')).toBeHidden()
  await button(page, 'Tutup shift').click()
  await page.getByLabel('Lembar 50.000').click()
  await page.keyboard.type('5')
  await expect(page.getByText('Rp 250.000').first()).toBeVisible()
  await expectFineScreen(page)
  await button(page, 'Serah terima').click()
  await page.getByRole('button', { name: /Tono/ }).click()
  await page.keyboard.type(PIN.tono)
  await expect(page.getByText('Serah terima selesai')).toBeVisible()
  await button(page, 'Mulai').click()
  await expect(page.getByText('Shift terbuka')).toBeVisible()
  await expect(page.getByText('Tono').first()).toBeVisible()
  await tablet.close()
})

test('a number that nobody has is told, and a register code is shown', async ({ browser }) => {
  const tablet = await browser.newContext({ viewport: TABLET, locale: 'id-ID' })
  const { page, rina } = await openShop(await tablet.newPage())
  await firstLogin(page, 'Rina', rina.pin_awal, PIN.rina)
  await page.keyboard.type('0')
  await page.getByRole('button', { name: /^Buka shift/ }).click()
  await expect(page.getByText('Ketik nomor WhatsApp')).toBeVisible()
  await typeNumber(page, '089900011122')
  await page.keyboard.press('Enter')
  await expect(page.getByRole('region', { name: /belum terdaftar/i })).toBeVisible()
  await expectFineScreen(page)
  await tablet.close()
})

test('somebody who left is logged out, and logs in again behind the PIN', async ({ browser }) => {
  const tablet = await browser.newContext({ viewport: TABLET, locale: 'id-ID' })
  const { page, rina } = await openShop(await tablet.newPage())
  await firstLogin(page, 'Rina', rina.pin_awal, PIN.rina)
  await expect(page.getByText('Modal di laci')).toBeVisible()
  await lock(page)
  await logIn(page, 'Rina', '975310')
  await expect(page.getByText('PIN salah, sisa 4 percobaan')).toBeVisible()
  await page.keyboard.type(PIN.rina)
  await expect(page.getByText('Modal di laci')).toBeVisible()
  await tablet.close()
})

test('what ends in another tab or on the server is over here at once', async ({ browser }) => {
  const tablet = await browser.newContext({ viewport: TABLET, locale: 'id-ID' })
  const { page, idperangkat, rina, hadi } = await openShop(await tablet.newPage())
  await firstLogin(page, 'Rina', rina.pin_awal, PIN.rina)
  await page.getByRole('button', { name: /^Buka shift/ }).click()
  await expect(page.getByText('Ketik nomor WhatsApp')).toBeVisible()
  const other = await tablet.newPage()
  await other.goto(`${process.env.NYALA_URL}/kasir`)
  await firstLogin(other, 'Hadi', hadi.pin_awal, PIN.hadi)
  await expect(other.getByText('Ketik nomor WhatsApp')).toBeVisible()

  await tablet.setOffline(true)
  await expect(page.getByText('Terputus')).toBeVisible()
  await tablet.setOffline(false)
  await expect(page.getByText('Terhubung')).toBeVisible()

  await page.getByRole('link', { name: 'Shift' }).click()
  await button(page, 'Tutup shift').click()
  await button(page, 'Simpan Rp 0').click()
  // The till asks before the count becomes final; 'no' returns to the count.
  const asked = page.getByRole('dialog', { name: 'Hitung sekali lagi?' })
  await button(page, 'Hitung lagi').click()
  await expect(asked).toBeHidden()
  await button(page, 'Simpan Rp 0').click()
  await expect(asked).toBeVisible()
  await button(page, 'Ya, simpan Rp 0').click()
  await expect(page.getByText('Shift ditutup')).toBeVisible()
  await expect(other.getByText('Shift sudah ditutup di tab lain.')).toBeVisible()
  await expect(other.getByText('Modal di laci')).toBeVisible()

  await ops(`petugas/${hadi.id}/cabut`, {})
  await expect(other.getByText('Sesi Hadi sudah berakhir. Masuk lagi dengan PIN.')).toBeVisible()
  await expect(page.getByText('Terhubung')).toBeVisible()
  await ops(`perangkat/${idperangkat}/cabut`, {})
  await expect(page.getByText('Perangkat ini sudah dicabut.')).toBeVisible()
  await tablet.close()
})

test("a person's own browser sells nothing and lists what it can", async ({ browser }) => {
  const tablet = await browser.newContext({ viewport: TABLET, locale: 'id-ID' })
  const { hadi } = await openShop(await tablet.newPage())
  const { kode } = await ops<{ kode: string }>('perangkat', { nama: 'HP Hadi', idpetugas: hadi.id })
  const phone = await browser.newContext({ viewport: { width: 360, height: 740 }, locale: 'id-ID' })
  const page = await phone.newPage()
  await page.goto(`${process.env.NYALA_URL}/kasir/pasang#${kode}`)
  await expect(page.getByText('PIN Hadi').first()).toBeVisible()
  for (const pin of [hadi.pin_awal, PIN.hadi]) {
    await page.keyboard.type(pin)
    await expect(page.getByText(pin === PIN.hadi ? 'Ulangi PIN baru' : 'PIN baru Hadi').first()).toBeVisible()
  }
  await page.keyboard.type(PIN.hadi)
  await expect(page.getByText('Belum ada isi saldo')).toBeVisible()
  await expect(page.getByRole('link', { name: 'Isi Saldo' })).toHaveCount(0)
  await expect(page.getByRole('link', { name: 'Shift' })).toHaveCount(0)
  await expectFineScreen(page)
  await phone.close()
  await tablet.close()
})
