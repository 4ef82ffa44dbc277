import type { Locator, Page } from '@playwright/test'
import { newCustomer } from './support/api.ts'
import { expectFineScreen } from './support/axe.ts'
import { expect, test } from './support/test.ts'
import { button, choosePins, findByNumber, lock, logIn, openTill, PIN, TABLET } from './support/till.ts'

const WORD = 'Wardhaningrum'.repeat(7)

/** Names of staff and of customers in every script, who are served together: a customer's full name, and the short name that the till shows. */
const NAMES = [
  {
    staff: { rina: 'فاطمة الزهراء', tono: 'สมหญิง รักดี', hadi: '🧑🔧 Supervisor Malam 🌙' },
    customers: [
      ['محمد عبد الرحمن', 'محمد ع.'],
      ['สมชาย ใจดี', 'สมชาย ใ.'],
      ['🧺🫧 Laundry 🎉', '🧺🫧 L.'],
    ],
  },
  {
    staff: {
      rina: 'Siti Nurhaliza Rahmawati Kusumawardhani Prawirodirdjo',
      tono: 'X'.repeat(50),
      hadi: 'Raden Mas Hadiwijaya Kusumaningrat Sosrodiningrat',
    },
    customers: [
      ['Nguyễn Thị Ánh', 'Nguyễn T.'],
      [`${WORD} Putri`, `${WORD} P.`],
    ],
  },
] as const

const PHONE = { width: 360, height: 740 }

/** Checks in the size of a tablet, and in that of a phone, in which the walk goes on. */
async function inSizes(page: Page, check: () => Promise<void>): Promise<void> {
  for (const size of [TABLET, PHONE])
    await test.step(`${size.width}×${size.height}`, async () => {
      await page.setViewportSize(size)
      await check()
    })
}

/** No part of the element lies beyond the screen's sides, and its text does not overflow it. */
async function expectInside(page: Page, what: Locator): Promise<void> {
  const box = await what.boundingBox()
  expect(box?.x).toBeGreaterThanOrEqual(0)
  expect((box?.x ?? 0) + (box?.width ?? 0)).toBeLessThanOrEqual(page.viewportSize()?.width ?? 0)
  // An ellipsis hides the rest on purpose.
  const spills = await what.evaluate(
    (node) => getComputedStyle(node).overflowX === 'visible' && node.scrollWidth > node.clientWidth + 1,
  )
  expect(spills).toBe(false)
}

const lineCount = (what: Locator) =>
  what.evaluate((node) => {
    const range = document.createRange()
    range.selectNodeContents(node)
    return new Set([...range.getClientRects()].map(({ bottom }) => Math.round(bottom / 8))).size
  })

for (const { staff, customers } of NAMES) {
  test(`${staff.rina.slice(0, 12)}… sells to names of every script`, async ({ page }) => {
    await page.setViewportSize(PHONE)
    const shop = await openTill(page, { outlet: `Laundry ${'Sejahtera '.repeat(5)}`.trim(), names: staff })
    await choosePins(shop, 'tono')
    await lock(page)
    await inSizes(page, async () => {
      for (const name of Object.values(staff)) await expectInside(page, page.getByRole('button', { name }))
      await expectFineScreen(page)
    })
    await logIn(page, staff.rina, PIN.rina)

    for (const [name, short] of customers) {
      await findByNumber(page, await newCustomer(name))
      await button(page, 'Rp 50.000').click()
      const confirm = page.getByRole('button', { name: /^Isi Rp 50\.000 untuk / })
      await inSizes(page, async () => {
        await expectInside(page, page.getByRole('heading', { name: short, exact: true }))
        await expect(confirm).toBeInViewport({ ratio: 1 })
        await expectInside(page, confirm)
        await expectFineScreen(page)
      })
      await confirm.click()
      await inSizes(page, async () => {
        await expectInside(
          page,
          page.getByRole('heading', { name: `Saldo ${short} sudah masuk`, exact: true }),
        )
        await expect(button(page, 'Pelanggan berikutnya')).toBeInViewport({ ratio: 1 })
        await expectFineScreen(page)
      })
      await page.evaluate(() => document.documentElement.setAttribute('data-alone', ''))
      await page.emulateMedia({ media: 'print' })
      await inSizes(page, async () => {
        const paper = page.getByText('TOP-UP SALDO').locator('..')
        await expect(paper).toBeVisible()
        for (const line of await paper.getByRole('paragraph', { includeHidden: true }).all())
          await expectInside(page, line)
      })
      await page.emulateMedia({ media: null })
      await page.evaluate(() => document.documentElement.removeAttribute('data-alone'))
      await button(page, 'Pelanggan berikutnya').click()
    }

    await page.getByRole('link', { name: 'Transaksi' }).click()
    const rows = page.getByRole('listitem').filter({ hasText: '+Rp 50.000' })
    await inSizes(page, async () => {
      await expect(rows).toHaveCount(customers.length)
      for (const row of await rows.all()) {
        await expectInside(page, row)
        expect(await lineCount(row.getByText('+Rp 50.000'))).toBe(1)
        expect((await row.boundingBox())?.height).toBeLessThanOrEqual(64)
      }
      await expectFineScreen(page)
    })
    const dialog = page.getByRole('dialog')
    await rows.first().click()
    await inSizes(page, async () => {
      await expectInside(page, dialog.getByRole('heading'))
      await expect(dialog.getByRole('button', { name: 'Batalkan' })).toBeInViewport({ ratio: 1 })
      await expectFineScreen(page)
    })
    await dialog.getByRole('button', { name: 'Batalkan' }).click()
    await button(page, 'Salah jumlah').click()
    await page.getByRole('button', { name: /^Batalkan \+/ }).click()
    await expect(page.getByText(`PIN ${staff.hadi}`)).toBeVisible()
    await inSizes(page, () => expectFineScreen(page))
    await page.keyboard.press('Escape')

    await page.getByRole('link', { name: 'Shift' }).click()
    await button(page, 'Tutup shift').click()
    await button(page, 'Serah terima').click()
    // By keyboard: a sheet that a tap opens treats the next tap at that place as the second tap of a double tap.
    await dialog.getByRole('button', { name: 'Ya, simpan Rp 0' }).press('Enter')
    await dialog.getByRole('button', { name: staff.tono }).press('Enter')
    await inSizes(page, () => expectFineScreen(page))
    await page.keyboard.type(PIN.tono)
    await expect(page.getByText('Serah terima selesai')).toBeVisible()
    await inSizes(page, () => expectFineScreen(page))
  })
}
