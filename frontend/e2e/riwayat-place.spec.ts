import type { Page } from '@playwright/test'
import { type Customer, newCustomer, newWorld, topUp, type World } from './support/api.ts'
import { buy } from './support/buy.ts'
import { expect, openAs, test } from './support/test.ts'

/** Enough for a third page. */
const TOP_UPS = 46

async function longHistory(): Promise<{ world: World; customer: Customer }> {
  const world = await newWorld([{ nama: 'Cuci Kilat', durasi: 2_130, harga: 8_000 }])
  const customer = await newCustomer('Siti Rahmawati')
  for (let i = 1; i <= TOP_UPS; i++) await topUp(customer, world.idoutlet, 10_000 + i)
  return { world, customer }
}

const rows = (page: Page) => page.locator('[data-entry]')
const filter = (page: Page) => page.getByRole('combobox', { name: 'Jenis transaksi' })

/** The first entry on the screen, and its distance from the top. */
const place = (page: Page) =>
  rows(page).evaluateAll((all) => {
    const first = all.find((row) => row.getBoundingClientRect().bottom > 0)
    return {
      entry: first?.getAttribute('data-entry'),
      top: Math.round(first?.getBoundingClientRect().top ?? 0),
    }
  })

/** Scrolls to the third page and into the middle of it. */
async function deep(page: Page): Promise<{ entry: string | null | undefined; top: number }> {
  await expect(rows(page)).toHaveCount(20)
  for (const count of [40, TOP_UPS]) {
    await page.mouse.wheel(0, 20_000)
    await expect(rows(page)).toHaveCount(count)
  }
  await rows(page).nth(42).scrollIntoViewIfNeeded()
  // The scroll position must not lie between two entries.
  await rows(page)
    .nth(36)
    .evaluate((row) => scrollBy(0, row.getBoundingClientRect().top + 42))
  await page.evaluate(() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done))))
  const here = await place(page)
  expect(here.entry).not.toBe(await rows(page).first().getAttribute('data-entry'))
  return here
}

test('a deep list is where it was: after a detail, a reload, another screen, and a reload of that', async ({
  page,
}) => {
  const { customer } = await longHistory()
  await openAs(page, customer, '/akun')
  await page.getByRole('link', { name: 'Riwayat' }).click()
  const here = await deep(page)

  await rows(page).nth(42).getByRole('button').click()
  await expect(page.getByRole('dialog')).toBeVisible()
  await expect.poll(() => page.evaluate(() => history.state.sheets)).toBe(1)
  await page.goBack()
  await expect(page.getByRole('dialog')).toHaveCount(0)
  expect(await place(page)).toEqual(here)

  await page.reload()
  await expect.poll(() => place(page)).toEqual(here)
  await expect(rows(page)).toHaveCount(TOP_UPS)

  // The list is left while a detail is open.
  await rows(page).nth(42).getByRole('button').click()
  await expect.poll(() => page.evaluate(() => history.state.sheets)).toBe(1)
  await page.reload()
  await expect.poll(() => place(page)).toEqual(here)
  await expect.poll(() => page.evaluate(() => history.state.sheets)).toBeUndefined()

  await page.getByRole('link', { name: 'Beranda' }).click()
  await expect(page).toHaveURL('/dashboard')
  await expect.poll(() => page.evaluate(() => scrollY)).toBe(0)
  await page.goBack()
  await expect.poll(() => place(page)).toEqual(here)

  await page.getByRole('link', { name: 'Akun' }).click()
  await expect(page).toHaveURL('/akun')
  await page.reload()
  await expect(page.getByText('Siti Rahmawati')).toBeVisible()
  await page.goBack()
  await expect.poll(() => place(page)).toEqual(here)

  // A new visit starts at the top.
  await page.getByRole('link', { name: 'Akun' }).click()
  await page.getByRole('link', { name: 'Riwayat' }).click()
  await expect(rows(page)).toHaveCount(20)
  expect(await page.evaluate(() => scrollY)).toBe(0)
})

test('who goes back before the next screen has come is left where he was', async ({ page }) => {
  const { customer } = await longHistory()
  await openAs(page, customer, '/riwayatPage')
  const here = await deep(page)
  await page.route('**/assets/akun-page-*.js', () => undefined)
  await page.getByRole('link', { name: 'Akun' }).click()
  await expect(page).toHaveURL('/akun')
  await expect(rows(page).first()).toBeHidden()
  await page.goBack()
  await expect.poll(() => place(page)).toEqual(here)
  await page.reload()
  await expect.poll(() => place(page)).toEqual(here)
})

test('rows that were added meanwhile do not move the place', async ({ page }) => {
  const { world, customer } = await longHistory()
  await openAs(page, customer, '/riwayatPage')
  const here = await deep(page)
  await topUp(customer, world.idoutlet, 77_777)
  await page.reload()
  await expect.poll(() => place(page)).toEqual(here)
  await expect(page.getByText('+Rp 77.777')).toHaveCount(1)
})

test('who scrolls while the list is on its way is left where he is', async ({ page }) => {
  const { customer } = await longHistory()
  await openAs(page, customer, '/riwayatPage')
  const here = await deep(page)
  let release = () => undefined as undefined
  const held = new Promise<void>((done) => {
    release = () => void done()
  })
  await page.route('**/list_history', async (route) => {
    if (route.request().postDataJSON().skip === 40) await held
    return route.continue()
  })
  await page.reload()
  await expect(rows(page)).toHaveCount(40)
  await page.mouse.wheel(0, 100)
  await expect.poll(() => page.evaluate(() => scrollY)).toBeGreaterThan(0)
  release()
  await expect(rows(page)).toHaveCount(TOP_UPS)
  expect((await place(page)).entry).not.toBe(here.entry)
  expect(await page.evaluate(() => scrollY)).toBeLessThan(400)
})

test('the filter survives back and reload; the link in the bar starts without one', async ({ page }) => {
  const world = await newWorld([{ nama: 'Cuci Kilat', durasi: 2_130, harga: 8_000 }])
  const customer = await newCustomer('Siti Rahmawati')
  await topUp(customer, world.idoutlet, 100_000)
  await buy(customer, world)
  await openAs(page, customer)
  const bar = page.getByRole('link', { name: 'Riwayat' })
  await bar.click()
  await filter(page).selectOption('Penggunaan Mesin')
  await expect(rows(page)).toHaveCount(1)
  await page.reload()
  await expect(rows(page)).toHaveCount(1)
  await expect(filter(page)).toHaveValue('snap_transaksi')

  await page.getByRole('link', { name: 'Akun' }).click()
  await expect(page).toHaveURL('/akun')
  await page.goBack()
  await expect(filter(page)).toHaveValue('snap_transaksi')
  await expect(rows(page)).toHaveCount(1)

  await bar.click()
  await expect(filter(page)).toHaveValue('')
  await expect(rows(page)).toHaveCount(2)
  await page.goBack()
  await expect(filter(page)).toHaveValue('snap_transaksi')
  await expect(rows(page)).toHaveCount(1)
  // The arrow leads to the dashboard from every filter, and a choice of filter adds no history entry.
  await page.getByRole('button', { name: 'Kembali' }).click()
  await expect(page).toHaveURL('/dashboard')
  expect(await page.evaluate(() => history.state.idx)).toBe(0)

  await page.goto('/riwayatPage?jenis=apa')
  await expect(filter(page)).toHaveValue('')
  await expect(rows(page)).toHaveCount(2)
})

for (const inset of [0, 47]) {
  test(`the month stays in sight under the offline banner, with ${inset} px of notch`, async ({
    page,
    context,
  }) => {
    const phone = await context.newCDPSession(page)
    await phone.send('Emulation.setSafeAreaInsetsOverride', { insets: { top: inset } })
    await page.setViewportSize({ width: 320, height: 568 })
    const { customer } = await longHistory()
    await openAs(page, customer, '/riwayatPage')
    await expect(rows(page)).toHaveCount(20)
    await page.mouse.wheel(0, 600)
    const month = page.getByRole('heading', { level: 2 }).first()
    const top = async () => (await month.boundingBox())?.y ?? -1
    await expect.poll(top).toBe(inset)
    await context.setOffline(true)
    const banner = page.getByRole('status').filter({ hasText: 'Tidak ada koneksi internet' })
    await expect(banner).toHaveText(/Data per \d\d\.\d\d$/)
    const bottom = async () => {
      const box = await banner.boundingBox()
      return (box?.y ?? 0) + (box?.height ?? 0)
    }
    await expect.poll(async () => Math.abs((await top()) - (await bottom()))).toBeLessThan(0.5)
    expect(await bottom()).toBeGreaterThanOrEqual(inset + 30)
    await context.setOffline(false)
    await expect(banner).toHaveCount(0)
    await expect.poll(top).toBe(inset)
  })
}
