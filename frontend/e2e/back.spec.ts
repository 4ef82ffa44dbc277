import type { Locator, Page } from '@playwright/test'
import { balance, type Customer, newCustomer, newWorld, topUp, type World } from './support/api.ts'
import { expectFineScreen } from './support/axe.ts'
import { BALANCE, enterCode, PRICE, pay, shop, toReceipt } from './support/purchase.ts'
import { expect, openAs, test, toastOf } from './support/test.ts'

test.use({ contextOptions: { reducedMotion: 'no-preference' } })

const arrow = (page: Page) => page.getByRole('button', { name: 'Kembali' })
const dialog = (page: Page, name: string) => page.getByRole('dialog', { name, exact: true })
/** The screen's index in the app's history. */
const place = (page: Page) => page.evaluate(() => window.history.state?.idx as number)

async function walk(page: Page, ...links: string[]): Promise<void> {
  for (const name of links) {
    await page.getByRole('link', { name }).click()
    await expect(page.getByRole('heading', { level: 1 })).toBeFocused()
  }
}

/** Walks from the dashboard to the receipt. */
async function walkToReceipt(page: Page, world: World, customer: Customer): Promise<void> {
  await openAs(page, customer)
  await page.getByRole('link', { name: 'Scan mesin' }).click()
  await enterCode(page, world.machine.kode)
  await page.getByRole('button', { name: /Cuci Kilat/ }).click()
  await page.getByRole('button', { name: new RegExp(world.outlet) }).click()
  await expect(page).toHaveURL('/pembayaran')
}

test.describe('the arrow', () => {
  test('goes back to where one came from', async ({ page }) => {
    await openAs(page, await newCustomer())
    await walk(page, 'Akun', 'Scan mesin')
    await arrow(page).click()
    await expect(page).toHaveURL('/akun')
    expect(await place(page)).toBe(1)
    await page.goBack()
    await expect(page).toHaveURL('/dashboard')
  })

  test('walks back through a purchase step by step', async ({ page }) => {
    const { world, customer } = await shop()
    await walkToReceipt(page, world, customer)
    for (const path of ['/pilihEpay', '/pilihLayanan', '/scanPage', '/dashboard']) {
      await arrow(page).click()
      await expect(page).toHaveURL(path)
    }
    expect(await place(page)).toBe(0)
  })

  for (const [link, path] of [
    ['Riwayat', '/riwayatPage'],
    ['Top Up', '/topUpPage'],
  ] as const) {
    test(`of ${link} leads to the dashboard, which is then not there twice`, async ({ page }) => {
      await openAs(page, await newCustomer())
      await walk(page, link)
      await arrow(page).click()
      await expect(page).toHaveURL('/dashboard')
      expect(await place(page)).toBe(0)

      await walk(page, 'Akun', link)
      await page.reload()
      await expect(page).toHaveURL(path)
      await arrow(page).click()
      await expect(page).toHaveURL('/dashboard')
      await page.goBack()
      await expect(page).toHaveURL('/akun')
    })
  }

  test('leads to the dashboard from a screen that was opened by its address', async ({ page }) => {
    const { customer } = await shop()
    for (const path of ['/scanPage', '/pembayaran', '/riwayatPage', '/topUpPage']) {
      await openAs(page, customer, path)
      await arrow(page).click()
      await expect(page).toHaveURL('/dashboard')
      expect(await place(page)).toBe(0)
    }
  })

  test('without a login leads to the screen before, too', async ({ page }) => {
    await page.goto('/register')
    await page.getByRole('link', { name: 'Masuk' }).click()
    await arrow(page).click()
    await expect(page).toHaveURL('/register')
    await page.goto('/forgotPasswordTelp')
    await arrow(page).click()
    await expect(page).toHaveURL('/login')
  })
})

for (const start of ['the dashboard', 'the scanner']) {
  test(`after a purchase that began on ${start}, back leads home and never into the scanner`, async ({
    page,
  }) => {
    const { world, customer } = await shop()
    if (start === 'the dashboard') await walkToReceipt(page, world, customer)
    else await toReceipt(page, world, customer)
    const seen: string[] = []
    await pay(page)
    await expect(toastOf(page, 'Mesin Berhasil dinyalakan')).toBeVisible()
    await expect(page).toHaveURL('/dashboard')
    await expect.poll(() => place(page)).toBe(1)
    page.on('framenavigated', (frame) => seen.push(new URL(frame.url()).pathname))
    await page.goBack()
    await expect(page.getByRole('timer')).toBeVisible()
    await expect(page).toHaveURL('/dashboard')
    await page.goForward()
    await expect(page.getByRole('timer')).toBeVisible()
    expect(new Set(seen)).toEqual(new Set(['/dashboard']))
    expect(await balance(customer)).toBe(BALANCE - PRICE)
  })
}

test('back does not leave a payment that is under way', async ({ page }) => {
  const { world, customer } = await shop()
  await walkToReceipt(page, world, customer)
  const receipt = await place(page)
  await page.route('**/create_snap_transaksi', (route) => route.abort())
  await pay(page)
  await expect(dialog(page, 'Memastikan pembayaran…')).toBeVisible()
  await expect.poll(() => place(page)).toBe(receipt + 1)
  await page.goBack()
  await expect.poll(() => place(page)).toBe(receipt + 1)
  await expect(page).toHaveURL('/pembayaran')
  await expect(dialog(page, 'Memastikan pembayaran…')).toBeVisible()
  await page.unrouteAll()
  await expect(toastOf(page, 'Mesin Berhasil dinyalakan')).toBeVisible({ timeout: 30_000 })
  await page.goBack()
  await expect(page).toHaveURL('/dashboard')
})

interface SheetCase {
  path: string
  open: (page: Page) => Locator
  title: string | RegExp
}

const sheets: SheetCase[] = [
  { path: '/dashboard', open: (page) => page.getByRole('button', { name: /Info outlet/ }), title: /Laundry/ },
  {
    path: '/riwayatPage',
    open: (page) => page.getByRole('main').getByRole('listitem').getByRole('button').first(),
    title: 'Top-Up',
  },
  {
    path: '/akun',
    open: (page) => page.getByRole('button', { name: /^Nomor WhatsApp/ }),
    title: 'Nomor WhatsApp',
  },
  { path: '/akun', open: (page) => page.getByRole('button', { name: /^Ubah nama/ }), title: 'Ubah Nama' },
  {
    path: '/akun',
    open: (page) => page.getByRole('button', { name: /^Ubah Kata Sandi/ }),
    title: 'Ubah Kata Sandi',
  },
  {
    path: '/scanPage',
    open: (page) => page.getByRole('button', { name: 'Ketik kode' }),
    title: 'Ketik kode',
  },
]

for (const { path, open, title } of sheets) {
  test(`the sheet ${title} closes by back, and a double tap leaves it open`, async ({ page }) => {
    const world = await newWorld([])
    const customer = await newCustomer()
    await topUp(customer, world.idoutlet, 10_000)
    await openAs(page, customer, path === '/dashboard' ? '/akun' : '/dashboard')
    await walk(
      page,
      { '/dashboard': 'Beranda', '/riwayatPage': 'Riwayat', '/akun': 'Akun' }[path] ?? 'Scan mesin',
    )
    await expect(page).toHaveURL(path)
    const sheet = page.getByRole('dialog', { name: title })

    await open(page).dblclick()
    await expect(sheet).toBeVisible()
    await expect.poll(() => place(page)).toBe(2)
    await page.goBack()
    await expect(page.getByRole('dialog')).toHaveCount(0)
    await expect(page).toHaveURL(path)
    expect(await place(page)).toBe(1)

    // A sheet that closes in another way leaves no history entry behind.
    await open(page).click()
    await expect.poll(() => place(page)).toBe(2)
    await sheet.getByRole('button', { name: 'Tutup' }).click()
    await expect(page.getByRole('dialog')).toHaveCount(0)
    await expect.poll(() => place(page)).toBe(1)
    await page.goForward()
    await expect.poll(() => place(page)).toBe(1)
    await page.goBack()
    await expect(page).toHaveURL(path === '/dashboard' ? '/akun' : '/dashboard')
  })
}

test('a screen that is left before it has its title leaves the focus to the next one', async ({ page }) => {
  const customer = await newCustomer()
  let leave: () => void = () => {}
  const left = new Promise<void>((resolve) => {
    leave = resolve
  })
  await page.route('**/assets/akun-page-*.js', async (route) => {
    await left
    await route.continue()
  })
  await openAs(page, customer, '/akun')
  await page.getByRole('link', { name: 'Beranda' }).click()
  await expect(page).toHaveURL('/dashboard')
  leave()
  await expect(page.getByRole('heading', { level: 1 })).toBeFocused()
})

test('a tap elsewhere on a sheet that has just opened is heard', async ({ page }) => {
  await openAs(page, await newCustomer(), '/scanPage')
  await page.getByRole('button', { name: 'Ketik kode' }).click()
  // The tap does not wait until the sheet stops moving.
  await page.getByRole('button', { name: 'Tutup' }).click({ force: true })
  await expect(page.getByRole('dialog')).toHaveCount(0)
})

test('a reload under an open sheet leaves no step behind', async ({ page }) => {
  await openAs(page, await newCustomer())
  await walk(page, 'Akun')
  await page.getByRole('button', { name: /^Nomor WhatsApp/ }).click()
  await expect.poll(() => place(page)).toBe(2)
  await page.reload()
  await expect.poll(() => place(page)).toBe(1)
  await expect(page.getByText('Budi Santoso')).toBeVisible()
  await page.goBack()
  await expect(page).toHaveURL('/dashboard')
})

test('a sheet that leads on is not on the way back', async ({ page }) => {
  const { world } = await shop()
  await openAs(page, await newCustomer())
  await walk(page, 'Scan mesin')
  await enterCode(page, world.machine.kode)
  await dialog(page, 'E-Pay tidak ditemukan').getByRole('button', { name: 'Top Up' }).click()
  await expect(page).toHaveURL('/topUpPage')
  await page.goBack()
  await expect(page).toHaveURL('/scanPage')
  await expect.poll(() => place(page)).toBe(1)
  await expect(page.getByRole('dialog')).toHaveCount(0)
})

test('a selection of text that is let go outside throws nothing away', async ({ page }) => {
  await openAs(page, await newCustomer('Siti Rahmawati'), '/akun')
  await page.getByRole('button', { name: /^Ubah nama/ }).click()
  const field = page.getByLabel('Nama Akun')
  const box = await field.boundingBox()
  if (!box) throw new Error('the field is not in the page')
  await page.mouse.move(box.x + box.width - 40, box.y + box.height / 2)
  await page.mouse.down()
  await page.mouse.move(box.x + 20, 40, { steps: 5 })
  await page.mouse.up()
  await expect(dialog(page, 'Ubah Nama')).toBeVisible()
  await expect(page.getByRole('dialog')).toHaveCount(1)
  await expect(field).toHaveValue('Siti Rahmawati')
  // A tap that starts and ends outside the sheet closes it.
  await page.mouse.click(180, 40)
  await expect(page.getByRole('dialog')).toHaveCount(0)
})

test('what was typed is not thrown away without a question', async ({ page }) => {
  await openAs(page, await newCustomer('Siti Rahmawati'))
  await walk(page, 'Akun')
  await page.getByRole('button', { name: /^Ubah nama/ }).click()
  const field = page.getByLabel('Nama Akun')
  await field.fill('Rina Wijaya')
  const sheet = dialog(page, 'Ubah Nama')
  const question = dialog(page, 'Buang yang sudah diisi?')
  const ways: (() => Promise<unknown>)[] = [
    () => page.goBack(),
    () => page.keyboard.press('Escape'),
    () => sheet.getByRole('button', { name: 'Tutup' }).first().click(),
    () => page.mouse.click(180, 30),
  ]
  for (const close of ways) {
    await expect.poll(() => place(page)).toBe(2)
    await close()
    await expect(question).toBeVisible()
    await expect.poll(() => place(page)).toBe(3)
    await question.getByRole('button', { name: 'Lanjut mengisi' }).click()
    await expect(question).toHaveCount(0)
    await expect(field).toHaveValue('Rina Wijaya')
  }

  // Back on the question is no answer.
  await expect.poll(() => place(page)).toBe(2)
  await page.goBack()
  await expect(question).toBeVisible()
  await expectFineScreen(page)
  await expect.poll(() => place(page)).toBe(3)
  await page.goBack()
  await expect(question).toHaveCount(0)
  await expect(sheet).toBeVisible()

  await expect.poll(() => place(page)).toBe(2)
  await page.goBack()
  await question.getByRole('button', { name: 'Buang' }).click()
  await expect(page.getByRole('dialog')).toHaveCount(0)
  await expect(page).toHaveURL('/akun')
  await expect.poll(() => place(page)).toBe(1)
  await expect(page.getByText('Siti Rahmawati', { exact: true })).toBeVisible()
})

for (const { open, path, field, text } of [
  {
    path: '/akun',
    open: (page: Page) => page.getByRole('button', { name: /^Ubah Kata Sandi/ }),
    field: 'Kata Sandi Lama',
    text: 'Rahasia123',
  },
  {
    path: '/scanPage',
    open: (page: Page) => page.getByRole('button', { name: 'Ketik kode' }),
    field: 'Kode mesin',
    text: 'ABC',
  },
]) {
  test(`a typed ${field} is asked about, an empty form is not`, async ({ page }) => {
    await openAs(page, await newCustomer(), path)
    await open(page).click()
    await page.keyboard.press('Escape')
    await expect(page.getByRole('dialog')).toHaveCount(0)
    await open(page).click()
    await page.getByLabel(field, { exact: true }).fill(text)
    await page.keyboard.press('Escape')
    await dialog(page, 'Buang yang sudah diisi?').getByRole('button', { name: 'Buang' }).click()
    await expect(page.getByRole('dialog')).toHaveCount(0)
    await open(page).click()
    await expect(page.getByLabel(field, { exact: true })).toHaveValue('')
  })
}
