import { newCustomer } from './support/api.ts'
import { expect, openAs, test } from './support/test.ts'

test.use({ serviceWorker: true })

/** Budgets for the traffic until the network is idle: a weak network pays for each byte and each round trip. */
const MAX_BYTES = 170_000
const MAX_REQUESTS = 12

for (const path of ['/', '/login']) {
  test(`the first visit to ${path} is light`, async ({ page }) => {
    const session = await page.context().newCDPSession(page)
    await session.send('Network.enable')
    const asked = new Set<string>()
    let bytes = 0
    session.on('Network.requestWillBeSent', ({ request }) => asked.add(request.url))
    session.on('Network.loadingFinished', ({ encodedDataLength }) => {
      bytes += encodedDataLength
    })
    await page.goto(path, { waitUntil: 'networkidle' })
    await expect(page.getByRole('heading', { level: 1 })).toBeVisible()
    expect([...asked].length, [...asked].join('\n')).toBeLessThanOrEqual(MAX_REQUESTS)
    expect(bytes).toBeLessThanOrEqual(MAX_BYTES)
    expect(
      await page.evaluate(() => navigator.serviceWorker.getRegistrations().then((all) => all.length)),
    ).toBe(0)
  })
}

const DATA = ['get_dashboard', 'get_user_epayment_by_id_customer_global']

test('the dashboard and its data are asked for while the app is on its way, once', async ({ page }) => {
  const customer = await newCustomer()
  const asked: string[] = []
  page.on('request', (request) => asked.push(new URL(request.url()).pathname.split('/').at(-1) ?? ''))
  const ahead = Promise.all(['home-*.js', ...DATA].map((name) => page.waitForRequest(`**/${name}`)))
  await page.route('**/assets/index-*.js', async (route) => {
    await ahead
    await route.continue()
  })
  await openAs(page, customer)
  await expect(page.getByRole('heading', { level: 1, name: 'Budi Santoso' })).toBeVisible()
  await expect(page.getByText('Belum ada saldo E-Pay')).toBeVisible()
  expect(asked.filter((name) => DATA.includes(name)).sort()).toEqual(DATA)
})

test('a dashboard that cannot be fetched says so', async ({ page }) => {
  const customer = await newCustomer()
  await page.route('**/assets/home-*.js', (route) => route.abort())
  await openAs(page, customer)
  await expect(page.getByText('Halaman belum bisa dimuat')).toBeVisible()
  await page.unroute('**/assets/home-*.js')
  await page.getByRole('button', { name: 'Muat ulang' }).click()
  await expect(page.getByRole('heading', { level: 1, name: 'Budi Santoso' })).toBeVisible()
})
