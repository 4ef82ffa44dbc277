import { join } from 'node:path'
import type { Locator, Page } from '@playwright/test'
import { newCustomer, ops } from './support/api.ts'
import { expectFineScreen } from './support/axe.ts'
import { ALL_SIZES } from './support/sizes.ts'
import { expect, test } from './support/test.ts'
import {
  button,
  callAt,
  choosePins,
  findByNumber,
  lock,
  logIn,
  openShop,
  PIN,
  TABLET,
  typeNumber,
} from './support/till.ts'
import { stageTill } from './support/till-stage.ts'

/** The screens of a phone and of a tablet on its side. */
const COMMON = [
  [360, 740],
  [1024, 600],
] as const
/** `make phones` also tries a laptop and a tablet held upright. */
const SIZES = ALL_SIZES ? [...COMMON, [1280, 800] as const, [768, 1024] as const] : COMMON
const PHONE = { width: 360, height: 740 }

/** The element is wholly visible without scrolling, and nothing lies over it. */
async function expectInSight(what: Locator): Promise<void> {
  await expect(what).toBeInViewport({ ratio: 0.99 })
  const covered = await what.evaluate((node) => {
    const { left, top, width, height } = node.getBoundingClientRect()
    const on = document.elementFromPoint(left + width / 2, top + height / 2)
    return on === null || !(node.contains(on) || on.contains(node))
      ? (on?.outerHTML.slice(0, 200) ?? 'nothing')
      : null
  })
  expect(covered).toBeNull()
}

/** A time of day is written with a dot, except one after its date; a colon means a countdown. */
async function expectDottedTimes(page: Page): Promise<void> {
  const text = await page.locator('body').innerText()
  const bare = text
    .replace(/\d\d\/\d\d\/\d{4} \d\d:\d\d|Sisa waktu \d\d:\d\d/g, '')
    .match(/.*\b\d\d:\d\d\b.*/g)
  expect(bare).toBeNull()
}

/** Colours are the same at every size, so the dark theme is checked at the width of a tablet and of a phone only. */
const ALSO_DARK = [1024, 360]
/** The rules of axe that depend on colours; the dark theme differs from the light one in nothing else. */
const COLOUR_RULES = ['color-contrast', 'link-in-text-block']

/**
 * Checks that axe finds nothing, nothing is too wide, and the controls pressed next are in sight. With `E2E_SHOTS` it also saves pictures
 * in that folder, light and dark.
 */
async function lookNow(page: Page, name: string, ...next: Locator[]): Promise<void> {
  const { width, height } = page.viewportSize() ?? { width: 0, height: 0 }
  const folder = process.env.E2E_SHOTS
  for (const one of next) await expectInSight(one)
  await expectDottedTimes(page)
  for (const colorScheme of ['light', 'dark'] as const) {
    if (colorScheme === 'dark' && !folder && !ALSO_DARK.includes(width)) continue
    await page.emulateMedia({ colorScheme })
    await expectFineScreen(page, ...(colorScheme === 'dark' ? COLOUR_RULES : []))
    if (folder) await page.screenshot({ path: join(folder, `${name}-${width}x${height}-${colorScheme}.png`) })
  }
  await page.emulateMedia({ colorScheme: null })
}

/** Looks so in each size, and returns to the phone: one walk for all sizes. */
async function look(page: Page, name: string, ...next: Locator[]): Promise<void> {
  for (const [width, height] of SIZES) {
    await test.step(`${name} at ${width}×${height}`, async () => {
      await page.setViewportSize({ width, height })
      await lookNow(page, name, ...next)
    })
  }
  await page.setViewportSize(PHONE)
}

const dialogButton = (page: Page, name: string | RegExp) =>
  page.getByRole('dialog').getByRole('button', { name, exact: true })

test.describe('in each size', () => {
  test.use({ viewport: PHONE })

  test('pairing, names and PIN, and the shift that is opened', async ({ page }) => {
    await page.goto(`${process.env.NYALA_URL}/kasir/pasang`)
    await look(page, 'pasang', button(page, 'Pasang'))
    await page.getByLabel('Kode pasang').fill('ABCD2345')
    await page.keyboard.press('Enter')
    await expect(page.getByText('Kode pasang salah atau kedaluwarsa', { exact: false })).toBeVisible()
    await look(page, 'pasang-salah', button(page, 'Pasang'))

    const shop = await openShop(page, { outlet: 'Laundry Melati', device: 'tablet kasir depan' })
    await choosePins(shop)
    const { idoutlet } = shop
    const yuli = await ops<{ id: number }>('petugas', { nama: 'Yuli', role: 'kasir', idoutlet })
    for (let wrong = 0; wrong < 5; wrong++) {
      await callAt(page, 'masuk', { idpetugas: yuli.id, pin: '975310' }).catch(() => undefined)
    }
    await page.reload()
    await expect(page.getByText(/dikunci sampai \d\d\.\d\d/)).toBeVisible()
    await look(page, 'masuk', page.getByRole('button', { name: /Tono/ }))
    await logIn(page, 'Rina', '975310')
    await expect(page.getByText('PIN salah, sisa 4 percobaan')).toBeVisible()
    await page.keyboard.type('246')
    await look(page, 'masuk-pin', button(page, '1'), button(page, '0'), button(page, 'Hapus angka terakhir'))
    await page.keyboard.type('810')
    await expect(page.getByText('Modal di laci')).toBeVisible()
    await page.keyboard.type('200000')
    await look(page, 'shift-tertutup', button(page, 'Buka shift, modal Rp 200.000'))
  })

  test('a sale', async ({ page, context }) => {
    const { siti } = await stageTill(page)
    await look(page, 'kasir', page.getByRole('link', { name: 'Isi Saldo' }))
    await button(page, 'Ketik nomor').click()
    await page.keyboard.type('0812345')
    await lookNow(page, 'kasir-nomor', button(page, '0'), button(page, 'Cari'))
    await button(page, 'Hapus').click()
    await typeNumber(page, '089900011122')
    await page.keyboard.press('Enter')
    await expect(page.getByRole('region', { name: /belum terdaftar/i })).toBeVisible()
    await look(page, 'belum-terdaftar', button(page, 'Kembali memindai'))
    await button(page, 'Kembali memindai').click()

    await findByNumber(page, siti)
    await button(page, 'Rp 50.000').click()
    await look(page, 'jumlah', button(page, 'Isi Rp 50.000 untuk Siti'))
    // The newest sales; a phone shows them on their own screen.
    await page.setViewportSize(TABLET)
    await expect(page.getByRole('heading', { name: /Baru saja/ })).toBeVisible()
    await page.setViewportSize(PHONE)
    await page.getByRole('button', { name: /Paket Hemat/ }).click()
    await look(page, 'paket', button(page, 'Isi Rp 110.000 untuk Siti'))
    await context.setOffline(true)
    await expect(button(page, 'Isi Rp 110.000 untuk Siti')).toBeDisabled()
    await look(page, 'terputus', page.getByText('Tidak ada sambungan, top-up belum bisa dikirim.'))
    await context.setOffline(false)
    await page.getByRole('button', { name: /Jumlah lain/ }).click()
    await page.keyboard.type('1500000')
    await look(page, 'jumlah-lain', dialogButton(page, 'Pakai Rp 1.500.000'))
    await dialogButton(page, 'Pakai Rp 1.500.000').click()
    await button(page, 'Isi Rp 1.500.000 untuk Siti').click()
    await expect(page.getByText('PIN Pak Hadi')).toBeVisible()
    await look(page, 'persetujuan', dialogButton(page, '0'))
    await page.keyboard.press('Escape')

    await button(page, 'Rp 50.000').click()
    await button(page, 'Isi Rp 50.000 untuk Siti').click()
    await expect(page.getByText('Saldo Siti R. sudah masuk')).toBeVisible()
    await look(page, 'berhasil', button(page, 'Pelanggan berikutnya'), button(page, 'Cetak struk'))
  })

  test('a sale that is asked about, waits, and is refused', async ({ page }) => {
    const { siti } = await stageTill(page)
    await findByNumber(page, siti)
    await button(page, 'Rp 50.000').click()
    await button(page, 'Isi Rp 50.000 untuk Siti').click()
    await button(page, 'Pelanggan berikutnya').click()
    await findByNumber(page, siti)
    await button(page, 'Rp 50.000').click()
    await button(page, 'Isi Rp 50.000 untuk Siti').click()
    await look(page, 'sama-lagi', dialogButton(page, 'Ya, isi sekali lagi'), dialogButton(page, 'Tidak'))
    await dialogButton(page, 'Tidak').click()

    let answers = false
    await page.route('**/ops/v1/topup', (route) => {
      if (answers)
        return route.fulfill({
          status: 409,
          json: { status: 409, message: 'harga paket berubah', data: null },
        })
    })
    await button(page, 'Rp 20.000').click()
    await button(page, 'Isi Rp 20.000 untuk Siti').click()
    await expect(page.getByText('Sedang dikirim…')).toBeVisible()
    await look(page, 'dikirim')
    await page.reload()
    await expect(page.getByText('Menunggu jawaban server…')).toBeVisible()
    await look(page, 'menunggu')
    await lock(page)
    await expect(page.getByText(/oleh Rina .* belum terjawab/)).toBeVisible()
    await look(page, 'masuk-belum-terjawab')
    answers = true
    await logIn(page, 'Rina', PIN.rina)
    await expect(page.getByText('Harga paket berubah', { exact: false })).toBeVisible()
    await look(page, 'ditolak-kemudian')
    await findByNumber(page, siti)
    await button(page, 'Rp 20.000').click()
    await button(page, 'Isi Rp 20.000 untuk Siti').click()
    await expect(page.getByText('Harga paket berubah', { exact: false })).toBeVisible()
    await look(page, 'ditolak', button(page, 'Isi Rp 20.000 untuk Siti'))
  })

  test('the lists with their dialogs', async ({ page }) => {
    await stageTill(page)
    await page.getByRole('link', { name: 'Transaksi' }).click()
    await expect(page.getByRole('button', { name: /Budi S\..*100\.000/ })).toBeVisible()
    await look(page, 'transaksi', page.getByRole('button', { name: /Budi S\..*100\.000/ }))
    await page.getByRole('button', { name: /Budi S\..*100\.000/ }).click()
    await look(page, 'transaksi-isi-saldo', dialogButton(page, 'Batalkan'))
    await dialogButton(page, 'Batalkan').click()
    await dialogButton(page, 'Lainnya').click()
    await page.getByLabel('Alasannya').fill('Pelanggan berubah pikiran')
    await look(page, 'transaksi-batal', dialogButton(page, /^Batalkan \+/))
    await page.keyboard.press('Escape')

    await button(page, 'Pemakaian').click()
    await page.getByRole('button', { name: /Cuci Kilat/ }).click()
    await expect(dialogButton(page, 'Refund')).toBeVisible()
    await look(page, 'transaksi-pemakaian', dialogButton(page, 'Refund'), dialogButton(page, 'Hapus'))
    await dialogButton(page, 'Refund').click()
    await dialogButton(page, 'Mesin rusak').click()
    await look(page, 'transaksi-refund', dialogButton(page, 'Refund Rp 8.000'))
    await dialogButton(page, 'Refund Rp 8.000').click()
    await page.keyboard.type(PIN.hadi)
    await expect(page.getByText('Refund ke-1 bulan ini untuk pelanggan ini')).toBeVisible()
    await look(page, 'transaksi-refund-selesai', dialogButton(page, 'Selesai'))
    await dialogButton(page, 'Selesai').click()
  })

  test('the drawer, the count and the handover', async ({ page }) => {
    const { shop } = await stageTill(page)
    await choosePins(shop, 'tono')
    await page.getByRole('link', { name: 'Shift' }).click()
    await button(page, 'Uang masuk').click()
    await page.keyboard.type('50000')
    await page.keyboard.press('Enter')
    await dialogButton(page, 'Uang kembalian').click()
    await dialogButton(page, 'Masukkan Rp 50.000').click()
    await expect(page.getByText('Uang kembalian · Rina')).toBeVisible()
    await look(page, 'shift', button(page, 'Tutup shift'))
    await button(page, 'Uang keluar').click()
    await page.keyboard.type('25000')
    await look(page, 'kas', dialogButton(page, 'Lanjut dengan Rp 25.000'))
    await page.keyboard.press('Escape')

    await button(page, 'Tutup shift').click()
    await look(page, 'hitung-kosong', button(page, 'Simpan Rp 0'), button(page, 'Serah terima'))
    await page.getByLabel('Lembar 100.000').click()
    await page.keyboard.type('1')
    await page.keyboard.press('Enter')
    await page.keyboard.type('1')
    await expect(page.getByText('Rp 150.000')).toBeVisible()
    await lookNow(page, 'hitung-mengetik', button(page, '0'), button(page, 'Lanjut'))
    // After the last denomination the keypad disappears.
    for (let piece = 1; piece < 8; piece++) await page.keyboard.press('Enter')
    await look(page, 'hitung', button(page, 'Simpan hitungan'), button(page, 'Serah terima'))
    await button(page, 'Serah terima').click()
    // By keyboard: a sheet that a tap opens treats the next tap at that place as the second tap of a double tap.
    await page.getByRole('dialog').getByRole('button', { name: /Tono/ }).press('Enter')
    await look(page, 'serah-terima', dialogButton(page, '1'))
    await page.keyboard.type(PIN.tono)
    await expect(page.getByText('Serah terima selesai')).toBeVisible()
    await look(page, 'serah-terima-selesai', button(page, 'Mulai'))
    await button(page, 'Mulai').click()
    await button(page, 'Tutup shift').click()
    await button(page, /^Simpan/).click()
    // By keyboard, as above. The till asks once more about a count of zero.
    await dialogButton(page, 'Ya, simpan Rp 0').press('Enter')
    await expect(page.getByText('Kurang Rp 150.000')).toBeVisible()
    await look(page, 'shift-ditutup', button(page, 'Selesai'))
  })
})

/** The focused element has a visible focus ring. */
async function expectSeenFocus(page: Page): Promise<void> {
  const look = await page.evaluate(() => {
    const at = document.activeElement
    if (!at) return 'nothing has the focus'
    const { outlineStyle, outlineWidth, boxShadow } = getComputedStyle(at)
    return (outlineStyle !== 'none' && outlineWidth !== '0px') || boxShadow !== 'none'
      ? ''
      : at.outerHTML.slice(0, 200)
  })
  expect(look).toBe('')
}

/** Presses Tab until the button with this name has the focus. */
async function tabTo(page: Page, name: string | RegExp): Promise<void> {
  const wanted = page.getByRole('button', { name, exact: true })
  for (let steps = 0; steps < 60; steps++) {
    await page.keyboard.press('Tab')
    if (await wanted.evaluate((node) => node === document.activeElement)) return expectSeenFocus(page)
    await expectSeenFocus(page)
  }
  throw new Error(`Tab does not come to ${name}`)
}

for (const [width, height] of COMMON) {
  test.describe(`the keyboard alone, ${width}×${height}`, () => {
    test.use({ viewport: { width, height } })

    test('from the names to the next customer', async ({ page }) => {
      const shop = await openShop(page)
      await choosePins(shop)
      const customer = await newCustomer('Siti Rahma')
      await tabTo(page, /Rina/)
      await page.keyboard.press('Enter')
      await page.keyboard.type(PIN.rina)
      await expect(page.getByText('Modal di laci')).toBeVisible()
      await page.keyboard.type('100000')
      await page.keyboard.press('Enter')
      await findByNumber(page, customer)
      await tabTo(page, 'Rp 50.000')
      await page.keyboard.press('Space')
      await tabTo(page, 'Transfer')
      await page.keyboard.press('Enter')
      await tabTo(page, 'Isi Rp 50.000 untuk Siti')
      await page.keyboard.press('Enter')
      await expect(page.getByText('Saldo Siti R. sudah masuk')).toBeVisible()
      await expect(button(page, 'Pelanggan berikutnya')).toBeFocused()
      await expectSeenFocus(page)
      await page.keyboard.press('Enter')
      await expect(page.getByText('Ketik nomor WhatsApp')).toBeAttached()
    })
  })
}
