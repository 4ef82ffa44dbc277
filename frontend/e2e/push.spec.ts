import { createECDH, randomBytes } from 'node:crypto'
import type { Page } from '@playwright/test'
import { newCustomer, newWorld, scan, topUp } from './support/api.ts'
import { buy } from './support/buy.ts'
import { CHROMIUM_ARGS, WHOLE_CHROMIUM } from './support/chromium.ts'
import { withSubscription } from './support/push-service.ts'
import { expect, openAs, test } from './support/test.ts'

// The headless shell can neither subscribe to push messages nor show notifications.
test.use({ serviceWorker: true, launchOptions: { executablePath: WHOLE_CHROMIUM, args: CHROMIUM_ARGS } })

async function shop() {
  const world = await newWorld([{ nama: 'Cuci Reguler', durasi: 2_100, harga: 15_000 }])
  const customer = await newCustomer('Siti Rahmawati')
  await topUp(customer, world.idoutlet, 100_000)
  return { world, customer }
}

/** A browser whose push service hands out fake subscriptions; real ones need the internet. */
async function withPushService(page: Page): Promise<string> {
  const ecdh = createECDH('prime256v1')
  const keys = { p256dh: ecdh.generateKeys('base64url'), auth: randomBytes(16).toString('base64url') }
  const endpoint = `https://fcm.googleapis.com/fcm/send/${randomBytes(12).toString('hex')}`
  await page.context().grantPermissions(['notifications'])
  await withSubscription(page, { endpoint, keys })
  return endpoint
}

test('who starts a machine can be told when it is over, and can have enough of it', async ({ page }) => {
  const { world, customer } = await shop()
  await withPushService(page)
  await openAs(page, customer)
  await expect(page.getByText('Selamat datang di Nyala')).toBeVisible()
  // The app asks for no permission before the first start.
  await expect(page.getByText('Beri tahu saya saat selesai')).toHaveCount(0)
  await buy(customer, world)
  await page.reload()
  const asked = page.waitForRequest('**/push/langganan')
  await page.getByRole('button', { name: 'Beri tahu saya saat selesai' }).click()
  expect((await (await asked).response())?.status()).toBe(200)
  await expect(page.getByText('Kami beri tahu saat cucian selesai')).toBeVisible()
  await expect(page.getByRole('button', { name: 'Beri tahu saya saat selesai' })).toHaveCount(0)

  // The key is the server's, so that no other server can push.
  const { data } = await scan<{ kunci: string }>('push/kunci', undefined, customer.token)
  expect(await page.evaluate(() => localStorage.getItem('test.push'))).toBe(data.kunci)

  await page.getByRole('link', { name: 'Akun' }).click()
  const toggle = page.getByRole('switch', { name: /Pemberitahuan/ })
  await expect(toggle).toBeChecked()
  const ended = page.waitForRequest('**/push/berhenti')
  await toggle.click()
  expect((await (await ended).response())?.status()).toBe(200)
  await expect(toggle).not.toBeChecked()
  await page.reload()
  await expect(toggle).toBeEnabled()
  await expect(toggle).not.toBeChecked()
})

test('somebody else on the same phone is not told of anything', async ({ page }) => {
  const { world, customer } = await shop()
  await withPushService(page)
  await buy(customer, world)
  await openAs(page, customer)
  await page.getByRole('button', { name: 'Beri tahu saya saat selesai' }).click()
  await expect(page.getByText('Kami beri tahu saat cucian selesai')).toBeVisible()
  const asked: string[] = []
  page.on('request', (request) => asked.push(new URL(request.url()).pathname))
  await openAs(page, await newCustomer('Rina Wijaya'), '/akun')
  await expect(page.getByRole('switch', { name: /Pemberitahuan/ })).toBeEnabled()
  await expect(page.getByRole('switch', { name: /Pemberitahuan/ })).not.toBeChecked()
  expect(asked).not.toContain('/scan/v1/push/langganan')
  // The first customer, back on this phone, need not grant permission twice.
  const again = page.waitForRequest('**/push/langganan')
  await openAs(page, customer, '/akun')
  await again
  await expect(page.getByRole('switch', { name: /Pemberitahuan/ })).toBeChecked()
})

test('a phone that forbids it says where that is changed', async ({ page }) => {
  const { world, customer } = await shop()
  await buy(customer, world)
  await page.addInitScript(() => {
    Object.defineProperty(Notification, 'permission', { get: () => 'denied' })
  })
  await openAs(page, customer)
  await page.getByRole('button', { name: 'Beri tahu saya saat selesai' }).click()
  await expect(page.getByText('Izinkan pemberitahuan di setelan browser.')).toBeVisible()
})

test('an iPhone whose browser cannot says what comes first', async ({ page }) => {
  const { world, customer } = await shop()
  await buy(customer, world)
  await page.addInitScript(() => {
    Reflect.deleteProperty(window, 'PushManager')
    Object.defineProperty(navigator, 'standalone', { value: false })
  })
  await openAs(page, customer)
  const ask = page.getByRole('button', { name: 'Beri tahu saya saat selesai' })
  await ask.click()
  await expect(page.getByText('Tambahkan Nyala ke Layar Utama dulu.')).toBeVisible()
  await expect(ask).toBeVisible()
  await page.getByRole('link', { name: 'Akun' }).click()
  const toggle = page.getByRole('switch', { name: /Pemberitahuan/ })
  await toggle.click()
  await expect(page.getByText('Tambahkan Nyala ke Layar Utama dulu.')).toBeVisible()
  await expect(toggle).not.toBeChecked()
})

test('a push is a message while the app is in sight, and a notification otherwise', async ({ page }) => {
  const { customer } = await shop()
  await page.context().grantPermissions(['notifications'])
  await openAs(page, customer)
  await page.evaluate(async () => {
    await navigator.serviceWorker.ready
    if (!navigator.serviceWorker.controller)
      await new Promise((done) => {
        navigator.serviceWorker.addEventListener('controllerchange', done, { once: true })
      })
  })
  const cdp = await page.context().newCDPSession(page)
  const registered = new Promise<string>((done) => {
    cdp.on('ServiceWorker.workerRegistrationUpdated', ({ registrations: [one] }) => {
      if (one) done(one.registrationId)
    })
  })
  await cdp.send('ServiceWorker.enable')
  const registrationId = await registered
  const origin = new URL(page.url()).origin
  const push = (judul: string) =>
    cdp.send('ServiceWorker.deliverPushMessage', {
      origin,
      registrationId,
      data: JSON.stringify({ judul, isi: 'Cuci 03 di Laundry Melati', tuju: '/riwayatPage', tanda: 'satu' }),
    })
  const shown = () =>
    page.evaluate(async () => {
      const registration = await navigator.serviceWorker.getRegistration('/')
      return ((await registration?.getNotifications()) ?? []).map(({ title, body, tag }) => ({
        title,
        body,
        tag,
      }))
    })

  await push('Cucian selesai')
  await expect(page.getByText('Cucian selesai')).toBeVisible()
  await expect(page.getByText('Cuci 03 di Laundry Melati')).toBeVisible()
  expect(await shown()).toEqual([])

  // The app does not handle a page of the server, such as the till's.
  await page.goto('/kasir')
  await push('Cucian menunggu')
  await expect
    .poll(shown)
    .toEqual([{ title: 'Cucian menunggu', body: 'Cuci 03 di Laundry Melati', tag: 'satu' }])
})
