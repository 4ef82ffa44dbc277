import type { Page } from '@playwright/test'
import { newCustomer, newWorld, scan, topUp } from './support/api.ts'
import { buy } from './support/buy.ts'
import { openShopWindow, type ShopWindow } from './support/shop-window.ts'
import { test as base, expect, openAs } from './support/test.ts'

const test = base.extend<{ shop: ShopWindow }>({
  shop: async ({}, use) => {
    const shop = await openShopWindow(process.env.NYALA_URL ?? '')
    await use(shop)
    await shop.close()
  },
  baseURL: async ({ shop }, use) => use(shop.url),
})

test.use({ serviceWorker: true })

/** The service worker has fetched everything and serves this page. */
const installed = (page: Page) =>
  page.evaluate(async () => {
    await navigator.serviceWorker.ready
    if (navigator.serviceWorker.controller) return
    await new Promise((done) =>
      navigator.serviceWorker.addEventListener('controllerchange', done, { once: true }),
    )
  })

/** Reads the version through a locator, which survives a reload in between. */
const version = async (page: Page) => (await page.locator('html').getAttribute('data-version')) ?? 'first'

/** Looks for a new version now, and waits until it is ready to be activated. */
const newVersionWaits = (page: Page) =>
  page.evaluate(async () => {
    const registration = await navigator.serviceWorker.ready
    await registration.update()
    while (!registration.waiting) await new Promise((next) => setTimeout(next, 50))
  })

async function customerWithRun() {
  const world = await newWorld([{ nama: 'Cuci Kilat', durasi: 1_800, harga: 8_000 }])
  const customer = await newCustomer('Siti Rahmawati')
  await topUp(customer, world.idoutlet, 50_000)
  expect((await buy(customer, world)).answer.status).toBe(200)
  return { world, customer }
}

test('can be installed', async ({ page, request }) => {
  await page.goto('/')
  const href = await page.locator('link[rel=manifest]').getAttribute('href')
  const manifest = await (await request.get(href ?? '')).json()
  expect(manifest).toMatchObject({
    name: 'Nyala',
    display: 'standalone',
    start_url: '/dashboard',
    lang: 'id',
  })
  for (const { src, sizes } of manifest.icons) {
    const picture = await request.get(src)
    expect(picture.headers()['content-type']).toBe('image/png')
    const size = (await picture.body()).readUInt32BE(16)
    expect(`${size}x${size}`).toBe(sizes)
  }
})

test('without network: the last balance and the running machine, with their age', async ({ page, shop }) => {
  const { world, customer } = await customerWithRun()
  await openAs(page, customer)
  await expect(page.getByText('Rp 42.000')).toBeVisible()
  await expect(page.getByRole('timer')).toContainText(/(30:00|29:\d\d)/)
  await installed(page)
  await page.getByRole('link', { name: 'Akun' }).click()
  await expect(page.getByText(`+62${customer.telp}`)).toBeVisible()
  await page.getByRole('link', { name: 'Beranda' }).click()
  shop.shut()
  await page.reload()
  await expect(page.getByText('Siti Rahmawati').first()).toBeVisible()
  await expect(page.getByText('Rp 42.000')).toBeVisible()
  await expect(page.getByText(world.outlet).first()).toBeVisible()
  await expect(page.getByText(/Data per \d\d\/\d\d\/\d{4} \d\d:\d\d/)).toBeVisible({ timeout: 30_000 })
  await expect(page.getByRole('timer')).toContainText(/29:\d\d/)

  for (const [path, title] of [
    ['/riwayatPage', 'Riwayat'],
    ['/akun', 'Akun'],
    ['/topUpPage', 'Top Up'],
    ['/scanPage', 'Scan'],
  ] as const) {
    await page.goto(path)
    await expect(page.getByRole('heading', { level: 1, name: title })).toBeVisible()
  }
  await page.goto('/akun')
  await expect(page.getByText(`+62${customer.telp}`)).toBeVisible()
  await expect(page.getByText('Akun belum bisa diperbarui')).toBeVisible({ timeout: 20_000 })
  await page.goto('/topUpPage')
  await expect(
    page.getByText(`0${customer.telp}`.replace(/(.{4})(?=.)/g, '$1 '), { exact: true }),
  ).toBeVisible()
})

test("the server's own addresses are never answered by the app", async ({ page }) => {
  const { customer } = await customerWithRun()
  await openAs(page, customer)
  await installed(page)
  const kept = await page.evaluate(async () => {
    const requests = await Promise.all(
      (await caches.keys()).map(async (name) =>
        (await (await caches.open(name)).keys()).map(({ url }) => url),
      ),
    )
    return requests.flat().filter((url) => new URL(url).pathname.startsWith('/scan/'))
  })
  expect(kept).toEqual([])
  const response = await page.goto(`/dev/whatsapp?telp=${customer.telp}`)
  expect(response?.fromServiceWorker()).toBe(false)
})

test('a new version is offered and taken', async ({ page, shop }) => {
  await openAs(page, await newCustomer())
  await installed(page)
  expect(await version(page)).toBe('first')
  shop.deploy('second')
  await newVersionWaits(page)
  await expect(page.getByText('Versi baru tersedia')).toBeVisible()
  expect(await version(page)).toBe('first')
  await page.getByRole('button', { name: 'Muat ulang' }).click()
  await expect.poll(() => version(page)).toBe('second')
  await expect(page.getByText('Versi baru tersedia')).toHaveCount(0)
  shop.shut()
  await page.reload()
  expect(await version(page)).toBe('second')
})

test('a new version is taken by itself on the way to a quiet screen', async ({ page, shop }) => {
  await openAs(page, await newCustomer())
  await installed(page)
  shop.deploy('second')
  await newVersionWaits(page)
  // The app has noticed, too.
  await expect(page.getByText('Versi baru tersedia')).toBeVisible()
  await page.getByRole('link', { name: 'Akun' }).click()
  await expect.poll(() => version(page)).toBe('second')
  await expect(page).toHaveURL('/akun')
  await expect(page.getByText('Budi Santoso')).toBeVisible()
})

test('a reload shows the newest version at once, whatever is kept', async ({ page, shop }) => {
  await openAs(page, await newCustomer())
  await installed(page)
  shop.deploy('second')
  await page.reload()
  expect(await version(page)).toBe('second')
  await expect(page.getByRole('heading', { level: 1 })).toBeVisible()
})

test('another open page offers to follow', async ({ page, shop, context }) => {
  const customer = await newCustomer()
  await openAs(page, customer)
  await installed(page)
  const other = await context.newPage()
  await other.goto(`${shop.url}/akun`)
  await expect(other.getByText('Budi Santoso')).toBeVisible()
  shop.deploy('second')
  await newVersionWaits(page)
  await page.getByRole('button', { name: 'Muat ulang' }).click()
  await expect.poll(() => version(page)).toBe('second')
  expect(await version(other)).toBe('first')
  await other.getByRole('button', { name: 'Muat ulang' }).click()
  await expect.poll(() => version(other)).toBe('second')
  expect((await scan('dashboard/get_dashboard', undefined, customer.token)).status).toBe(200)
})
