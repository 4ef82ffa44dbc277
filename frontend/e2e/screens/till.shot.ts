import { join } from 'node:path'
import type { Page } from '@playwright/test'
import { newCustomer, newMachine, ops, scan, topUp } from '../support/api.ts'
import { expectFineScreen } from '../support/axe.ts'
import { buy } from '../support/buy.ts'
import { askMove, linkOf, refuseAt } from '../support/move.ts'
import { makeBill, play, takeQris } from '../support/qris.ts'
import { expect, openAs, test } from '../support/test.ts'
import {
  button,
  callAt,
  codeOf,
  findByNumber,
  lock,
  logIn,
  openAsOwner,
  PIN,
  scanAt,
  TABLET,
  tokenOf,
  typeNumber,
} from '../support/till.ts'
import { stageTill } from '../support/till-stage.ts'
import { FOLDER, THEMES } from './folder.ts'

const PHONE = { width: 360, height: 740 }

async function shot(page: Page, name: string): Promise<void> {
  await page.mouse.move(0, 0)
  // Hides the notice of a payment.
  const close = page.getByRole('status').getByRole('button', { name: 'Tutup' })
  if (await close.isVisible()) await close.click()
  await expectFineScreen(page)
  await page.screenshot({ path: join(FOLDER, `${name}.png`), caret: 'hide' })
}

test.use({ viewport: TABLET })
test.setTimeout(120_000)

for (const [colorScheme, suffix] of THEMES) {
  test(`the till, ${colorScheme}`, async ({ page }) => {
    await page.emulateMedia({ colorScheme })
    const { siti } = await stageTill(page)
    await findByNumber(page, siti)
    await button(page, 'Rp 50.000').click()
    await expect(page.getByRole('heading', { name: /Baru saja/ })).toBeVisible()
    await shot(page, `kasir-isi-saldo${suffix}`)
    await button(page, 'Isi Rp 50.000 untuk Siti').click()
    await expect(page.getByText('Saldo Siti R. sudah masuk')).toBeVisible()
    await page.setViewportSize(PHONE)
    await shot(page, `kasir-berhasil${suffix}`)
    await page.getByRole('link', { name: 'Shift' }).click()
    await button(page, 'Tutup shift').click()
    for (const [piece, times] of [
      ['100.000', 1],
      ['50.000', 1],
      ['20.000', 1],
    ] as const) {
      for (let n = 0; n < times; n++) await button(page, `Tambah ${piece}`).click()
    }
    await shot(page, `kasir-hitung${suffix}`)
    await page.setViewportSize(TABLET)
    await lock(page)
    await page.getByRole('button', { name: /Rina/ }).click()
    await page.keyboard.type(PIN.rina.slice(0, 3))
    await shot(page, `kasir-masuk${suffix}`)
  })
  test(`money in and out, ${colorScheme}`, async ({ page, context }) => {
    await page.emulateMedia({ colorScheme })
    const { shop, siti } = await stageTill(page)
    const { idoutlet, world } = shop
    const phone = await context.newPage()
    await phone.emulateMedia({ colorScheme })
    await phone.setViewportSize({ width: 390, height: 844 })

    await takeQris(idoutlet, 'simulated')
    await page.reload()
    await makeBill(page, siti)
    await shot(page, `kasir-qris${suffix}`)
    await button(page, 'Pelanggan berikutnya').click()
    const held = await makeBill(page, await newCustomer('Dewi Kartika'))
    await button(page, 'Pelanggan berikutnya').click()
    await play(await makeBill(page, await newCustomer('Joko Prasetyo')), { aksi: 'bayar' })
    await expect(page.getByRole('heading', { name: 'Saldo Joko P. sudah masuk' })).toBeVisible()
    await button(page, 'Pelanggan berikutnya').click()
    await shot(page, `kasir-qris-daftar${suffix}`)

    // Balance with a bonus.
    const hemat = { nama: 'Paket Bonus', harga: 40_000, quota: 50_000 }
    const { idpaket } = await ops<{ idpaket: number }>('paket', { idoutlet, ...hemat })
    const ani = await newCustomer('Ani Wulandari')
    const sale = { telp: `0${ani.telp}`, idoutlet, nominal: hemat.harga, idpaket, cara_bayar: 'tunai' }
    await callAt(page, 'topup', sale, await tokenOf(page))
    await openAs(phone, ani, '/topUpPage')
    const qr = await codeOf(phone)
    await scanAt(page, qr)
    await button(page, 'Tarik saldo').click()
    await expect(page.getByText('Rp 40.000 dibayar, bonus Rp 10.000 hangus.')).toBeVisible()
    await shot(page, `kasir-tarik${suffix}`)
    await page.keyboard.press('Escape')

    await button(page, 'Pindah nomor').click()
    await typeNumber(page, `0${siti.telp}`)
    await page.keyboard.press('Enter')
    await expect(page.getByText(/pindah 24 jam lagi/)).toBeVisible()
    await shot(page, `kasir-pindah${suffix}`)
    await page.keyboard.press('Escape')

    const asked = await askMove(shop, context)
    await phone.goto(await linkOf(asked))
    await shot(phone, `pindah-tautan${suffix}`)
    await refuseAt(phone, asked)
    const budi = await newCustomer('Budi Santoso')
    await topUp(budi, idoutlet, 20_000)
    const { receiptNumber: id } = await buy(budi, world, (await newMachine(idoutlet, 'Mesin 08')).id)
    await scan(
      'transaksi/masalah',
      { id, alasan: 'berhenti', catatan: 'Mesin mati saat membilas.' },
      budi.token,
    )
    await play(held, { aksi: 'bayar', jumlah: 45_000 })

    await lock(page)
    await logIn(page, /Hadi/, PIN.hadi)
    await page.getByRole('link', { name: /Perhatian$/ }).click()
    await expect(page.getByText(/^Pembayaran QRIS tertahan/)).toBeVisible()
    await shot(page, `kasir-perhatian${suffix}`)
    await page.getByRole('button', { name: /Pelanggan melapor/ }).click()
    await expect(page.getByText('Mesin berhenti di tengah')).toBeVisible()
    await shot(page, `kasir-keluhan${suffix}`)

    await page.setViewportSize(PHONE)
    await openAsOwner(page, world.idowner)
    await page.getByRole('link', { name: /Perhatian$/ }).click()
    await page.getByRole('button', { name: /Pembayaran QRIS tertahan sejak/ }).click()
    await expect(page.getByText(held)).toBeVisible()
    await shot(page, `kasir-tertahan${suffix}`)
  })
}
