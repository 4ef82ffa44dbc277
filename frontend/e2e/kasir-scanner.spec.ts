import type { Page } from '@playwright/test'
import { newCustomer } from './support/api.ts'
import { expect, test } from './support/test.ts'
import {
  amountsSold,
  button,
  callsTo,
  choosePins,
  codeOf,
  enter,
  findByNumber,
  openShop,
  openTill,
  PIN,
  pressScan,
  readyShop,
  TABLET,
  typeNumber,
  withPhone,
} from './support/till.ts'

test.use({ viewport: TABLET })

const EAN = '8991002101234'
const ADDRESS = 'https://www.sabun.co.id/p?id=1'
const refusal = (page: Page) => page.getByText('Itu bukan kode pelanggan Nyala.')
const withCapsLock = (text: string) =>
  text.replace(/[a-z]/gi, (one) => (one < 'a' ? one.toLowerCase() : one.toUpperCase()))

/** A scan of a foreign code shows its message once, at a place where nothing covers it. */
async function scanForeign(page: Page, text: string, pace_ms = 20): Promise<void> {
  await pressScan(page, text, { pace_ms })
  await expect(refusal(page)).toBeVisible()
  const covered = await refusal(page).evaluate((node) => {
    const { left, top, width, height } = node.getBoundingClientRect()
    const on = document.elementFromPoint(left + width / 2, top + height / 2)
    return !node.parentElement?.contains(on)
  })
  expect(covered).toBe(false)
  await button(page, 'Tutup').last().click()
  await expect(refusal(page)).toBeHidden()
}

for (const pace_ms of [5, 40, 60, 100]) {
  test(`a customer's code at ${pace_ms} ms a key is theirs, with Caps Lock too, and is not dialled`, async ({
    page,
    context,
  }) => {
    const { phone } = await withPhone(context)
    await openTill(page)
    const searched = callsTo(page, 'pelanggan/cari')
    const code = await codeOf(phone)
    for (const typed of [code, withCapsLock(code)]) {
      await pressScan(page, typed, { pace_ms })
      await expect(page.getByRole('region', { name: 'Pelanggan', exact: true })).toContainText('Siti R.')
      await button(page, /^Ganti/).click()
      await expect(page.getByText('Ketik nomor WhatsApp')).toBeVisible()
    }
    await expect(refusal(page)).toBeHidden()
    expect(searched).toEqual([code, code].map((qr) => JSON.stringify({ qr })))
  })
}

test('at the number: another code is told, dials nothing and leaves what was typed; a hand types on', async ({
  page,
}) => {
  await openTill(page)
  const searched = callsTo(page, 'pelanggan/cari')
  await expect(page.getByText('Ketik nomor WhatsApp')).toBeVisible()
  for (const [text, pace_ms] of [
    [EAN, 5],
    [EAN, 100],
    [ADDRESS, 60],
    ['12345678', 40],
  ] as const)
    await scanForeign(page, text, pace_ms)
  await expect(page.getByText('Ketik nomor WhatsApp')).toBeVisible()
  await page.keyboard.type('0812')
  await expect(page.getByLabel('Nomor yang diketik')).toHaveText('0812')
  await scanForeign(page, EAN)
  await expect(page.getByLabel('Nomor yang diketik')).toHaveText('0812')
  expect(searched).toEqual([])
  await typeNumber(page, '99000111')
  await page.keyboard.press('Enter')
  await expect(page.getByRole('region', { name: /belum terdaftar/i })).toBeVisible()
  expect(searched).toEqual([JSON.stringify({ telp: '081299000111' })])
})

test('at the sale: another code and its Enter sell nothing, also after an approval that was called off', async ({
  page,
}) => {
  const { idoutlet } = await openTill(page)
  await findByNumber(page, await newCustomer('Siti Rahma'))
  await button(page, 'Rp 50.000').click()
  const sell = button(page, 'Isi Rp 50.000 untuk Siti')
  await sell.focus()
  for (const text of [EAN, ADDRESS, '1234567', 'A 1']) await scanForeign(page, text)
  await expect(sell).toBeVisible()

  // Each dialog returns the focus to the element that had it.
  await page.getByRole('button', { name: /Jumlah lain/ }).click()
  await page.keyboard.type('1500000')
  await button(page, 'Pakai Rp 1.500.000').click()
  const big = button(page, 'Isi Rp 1.500.000 untuk Siti')
  await big.click()
  await expect(page.getByText('PIN Hadi')).toBeVisible()
  await page.keyboard.press('Escape')
  await expect(page.getByText('PIN Hadi')).toBeHidden()
  await expect(big).not.toBeFocused()
  await page.keyboard.press('Enter')
  await scanForeign(page, EAN)
  await expect(page.getByText('PIN Hadi')).toBeHidden()
  expect(await amountsSold(idoutlet)).toEqual([])

  await button(page, 'Rp 20.000').click()
  await button(page, 'Isi Rp 20.000 untuk Siti').click()
  await expect(page.getByText('Saldo Siti R. sudah masuk')).toBeVisible()
  await button(page, 'Pelanggan berikutnya').click()
  expect(await amountsSold(idoutlet)).toEqual([20_000])
})

test('a repeated sale that was called off leaves no button in focus that sells', async ({ page }) => {
  const { idoutlet } = await openTill(page)
  const customer = await newCustomer('Siti Rahma')
  for (let sale = 0; sale < 2; sale++) {
    await findByNumber(page, customer)
    await button(page, 'Rp 20.000').click()
    await button(page, 'Isi Rp 20.000 untuk Siti').click()
    if (sale === 0) await button(page, 'Pelanggan berikutnya').click()
  }
  await expect(page.getByText('Isi sekali lagi?', { exact: false })).toBeVisible()
  await scanForeign(page, EAN)
  await button(page, 'Tidak').click()
  await expect(button(page, 'Isi Rp 20.000 untuk Siti')).not.toBeFocused()
  await page.keyboard.press('Enter')
  await scanForeign(page, EAN)
  expect(await amountsSold(idoutlet)).toEqual([20_000])
})

test("at 'Jumlah lain': another code fills nothing in; a hand's seven digits and a key that is held do", async ({
  page,
}) => {
  await openTill(page)
  await findByNumber(page, await newCustomer('Siti Rahma'))
  await page.getByRole('button', { name: /Jumlah lain/ }).click()
  const amount = page.getByRole('dialog').locator('output')
  for (const text of [EAN, ADDRESS]) {
    await scanForeign(page, text)
    await expect(amount).toHaveText('Rp 0')
  }
  await page.keyboard.type('1234567')
  await expect(amount).toHaveText('Rp 1.234.567')
  await scanForeign(page, EAN, 60)
  await expect(amount).toHaveText('Rp 1.234.567')
  for (let i = 0; i < 7; i++) await page.keyboard.press('Backspace')
  await page.keyboard.press('5')
  await page.keyboard.down('0')
  // The same key again, as the keyboard's auto-repeat sends it.
  for (let i = 0; i < 4; i++) await page.keyboard.down('0')
  await page.keyboard.up('0')
  await page.keyboard.press('Enter')
  await expect(button(page, 'Isi Rp 500.000 untuk Siti')).toBeVisible()
})

test('at the PIN: five scans lock nobody out, and the PIN works', async ({ page }) => {
  const shop = await openShop(page)
  await choosePins(shop)
  const tried = callsTo(page, 'masuk')
  await page.getByRole('button', { name: 'Rina' }).click()
  for (let scan = 0; scan < 5; scan++) {
    await scanForeign(page, EAN, scan % 2 ? 5 : 100)
    await expect(page.getByText('0 dari 6 angka')).toBeAttached()
  }
  expect(tried).toEqual([])
  await page.keyboard.type(PIN.rina)
  await expect(page.getByText('Modal di laci')).toBeVisible()
  expect(tried).toHaveLength(1)
})

test('at the PIN: a customer who is scanned waits behind it', async ({ page, context }) => {
  const { phone } = await withPhone(context)
  await openTill(page)
  await page.getByRole('button', { name: /Kunci kasir/ }).click()
  await page.getByRole('button', { name: 'Rina' }).click()
  await pressScan(page, withCapsLock(await codeOf(phone)), { pace_ms: 60 })
  await expect(page.getByText('Kode sudah dipindai dan menunggu PIN Anda.')).toBeVisible()
  await page.keyboard.type(PIN.rina)
  await expect(page.getByRole('region', { name: 'Pelanggan', exact: true })).toContainText('Siti R.')
})

test("at a supervisor's PIN: scans are no PINs", async ({ page }) => {
  await openTill(page)
  const tried = callsTo(page, 'izin')
  await findByNumber(page, await newCustomer('Siti Rahma'))
  await page.getByRole('button', { name: /Jumlah lain/ }).click()
  await page.keyboard.type('1500000')
  await button(page, 'Pakai Rp 1.500.000').click()
  await button(page, 'Isi Rp 1.500.000 untuk Siti').click()
  await expect(page.getByText('PIN Hadi')).toBeVisible()
  for (let scan = 0; scan < 5; scan++) await scanForeign(page, EAN, 40)
  expect(tried).toEqual([])
  await page.keyboard.type(PIN.hadi)
  await expect(page.getByText('Saldo Siti R. sudah masuk')).toBeVisible()
  expect(tried).toHaveLength(1)
})

test('at the pairing code: a scan is not typed into it and not sent', async ({ page }) => {
  await page.goto(`${process.env.NYALA_URL}/kasir/pasang`)
  const sent = callsTo(page, 'pasang')
  const code = page.getByLabel('Kode pasang')
  await code.pressSequentially('AB', { delay: 120 })
  for (const text of [EAN, ADDRESS, 'ABCD2345']) {
    await scanForeign(page, text)
    await code.focus()
    await expect(code).toHaveValue('AB')
  }
  await code.pressSequentially('CD2345', { delay: 120 })
  await page.keyboard.press('Enter')
  await expect(page.getByText('Kode pasang salah atau kedaluwarsa', { exact: false })).toBeVisible()
  expect(sent).toEqual([JSON.stringify({ kode: 'ABCD2345' })])
})

test('at the float: a scan opens no shift, and changes no amount', async ({ page }) => {
  await enter(await readyShop(page), 'rina')
  await expect(page.getByText('Modal di laci')).toBeVisible()
  const opened = callsTo(page, 'shift')
  await page.keyboard.type('2000')
  for (const text of [EAN, ADDRESS]) await scanForeign(page, text)
  await expect(button(page, 'Buka shift, modal Rp 2.000')).toBeVisible()
  expect(opened).toEqual([])
  await page.keyboard.press('0')
  await page.keyboard.press('Enter')
  await expect(page.getByText('Ketik nomor WhatsApp')).toBeVisible()
  expect(opened).toEqual([JSON.stringify({ modal: 20_000 })])
})

test('at the count: a scan changes no note, neither on the keypad nor in its field, and saves nothing', async ({
  page,
}) => {
  await openTill(page)
  await page.getByRole('link', { name: 'Shift' }).click()
  await button(page, 'Tutup shift').click()
  const closed = callsTo(page, 'shift/tutup')
  await page.keyboard.type('3')
  await scanForeign(page, EAN)
  await expect(page.getByText('Rp 300.000').first()).toBeVisible()
  await page.getByLabel('Lembar 50.000').click()
  await page.keyboard.type('2')
  for (const text of [EAN, ADDRESS, 'A12']) {
    await scanForeign(page, text)
    await page.getByLabel('Lembar 50.000').focus()
    await expect(page.getByLabel('Lembar 50.000')).toHaveValue('2')
  }
  await expect(page.getByText('Rp 400.000').first()).toBeVisible()
  await button(page, 'Simpan hitungan').focus()
  await scanForeign(page, EAN)
  expect(closed).toEqual([])
})

test('at the cash and its reason: a scan fills in nothing and moves nothing; a hand writes a word', async ({
  page,
}) => {
  await openTill(page)
  await page.getByRole('link', { name: 'Shift' }).click()
  await button(page, 'Uang masuk').click()
  await scanForeign(page, EAN)
  await expect(button(page, 'Ketik jumlahnya')).toBeVisible()
  await page.keyboard.type('25000')
  await page.keyboard.press('Enter')
  await button(page, 'Lainnya').click()
  const why = page.getByLabel('Alasannya')
  await why.click()
  await page.keyboard.type('rusak')
  for (const text of [EAN, ADDRESS]) {
    await scanForeign(page, text)
    await why.focus()
    await expect(why).toHaveValue('rusak')
  }
  const moved = callsTo(page, 'shift/kas')
  await button(page, 'Masukkan Rp 25.000').focus()
  await scanForeign(page, EAN)
  expect(moved).toEqual([])
  await button(page, 'Masukkan Rp 25.000').click()
  await expect(page.getByText('Uang masuk sudah dicatat.')).toBeVisible()
})

test('after a sale: the Enter of a scan serves no next customer by itself', async ({ page }) => {
  await openTill(page)
  await findByNumber(page, await newCustomer('Siti Rahma'))
  await button(page, 'Rp 20.000').click()
  await button(page, 'Isi Rp 20.000 untuk Siti').click()
  await expect(page.getByText('Saldo Siti R. sudah masuk')).toBeVisible()
  await scanForeign(page, EAN, 100)
  await expect(page.getByText('Saldo Siti R. sudah masuk')).toBeVisible()
})
