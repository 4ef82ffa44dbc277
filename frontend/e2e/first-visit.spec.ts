import { expect, test } from './support/test.ts'

/** Budgets of what travels until the network is idle: a weak network pays for each byte and each round trip. */
const MOST_BYTES = 170_000
const MOST_REQUESTS = 12

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
    expect([...asked].length, [...asked].join('\n')).toBeLessThanOrEqual(MOST_REQUESTS)
    expect(bytes).toBeLessThanOrEqual(MOST_BYTES)
    expect(
      await page.evaluate(() => navigator.serviceWorker.getRegistrations().then((all) => all.length)),
    ).toBe(0)
  })
}
