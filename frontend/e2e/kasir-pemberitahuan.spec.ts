import type { Page } from '@playwright/test'
import { newWorld, ops, type World } from './support/api.ts'
import { refuseTwice } from './support/attention.ts'
import { CHROMIUM_ARGS, WHOLE_CHROMIUM } from './support/chromium.ts'
import { look, lookAtSizes } from './support/look.ts'
import { withPushServer } from './support/push-service.ts'
import { PHONE } from './support/sizes.ts'
import { expect, test } from './support/test.ts'
import { button, enter, openAsOwner, PIN, readyShop, TABLET } from './support/till.ts'

// The headless shell can neither subscribe to push messages nor show notifications.
test.use({
  viewport: { width: 390, height: 844 },
  serviceWorker: true,
  launchOptions: { executablePath: WHOLE_CHROMIUM, args: CHROMIUM_ARGS },
})

const SERVICES = [{ nama: 'Cuci Reguler', durasi: 2_100, harga: 15_000 }]
const link = (page: Page) => page.getByRole('link', { name: 'Pemberitahuan' })
const here = (page: Page) => page.getByRole('switch', { name: /Pemberitahuan di ponsel ini/ })

async function openAlerts(page: Page, url?: string): Promise<World> {
  const world = await newWorld(SERVICES, 'Laundry Melati')
  await openAsOwner(page, world.idowner, url)
  await page.getByRole('link', { name: /Perhatian$/ }).click()
  await link(page).click()
  await expect(here(page)).toBeEnabled()
  return world
}

const shown = (page: Page) =>
  page.evaluate(async () => {
    const registration = await navigator.serviceWorker.getRegistration('/kasir/')
    return ((await registration?.getNotifications()) ?? []).map(({ title, body, tag }) => ({
      title,
      body,
      tag,
    }))
  })

/** Returns a function that delivers a push message as the browser's push service would. */
async function delivery(page: Page): Promise<(message: unknown) => Promise<void>> {
  const cdp = await page.context().newCDPSession(page)
  const registered = new Promise<string>((done) => {
    cdp.on('ServiceWorker.workerRegistrationUpdated', ({ registrations }) => {
      const till = registrations.find(({ scopeURL }) => scopeURL.endsWith('/kasir/'))
      if (till) done(till.registrationId)
    })
  })
  await cdp.send('ServiceWorker.enable')
  const registrationId = await registered
  const origin = new URL(page.url()).origin
  return async (message) => {
    const data = JSON.stringify(message)
    await cdp.send('ServiceWorker.deliverPushMessage', { origin, registrationId, data })
  }
}

/** Presses a button of the notification that is shown, in the service worker itself. */
async function press(page: Page, action: string): Promise<void> {
  const worker = page
    .context()
    .serviceWorkers()
    .find((one) => one.url().endsWith('/kasir/sw.js'))
  if (!worker) throw new Error('the till has no service worker')
  await worker.evaluate(async (action) => {
    // Only the shape that is used here: the tests know no types of service workers.
    const scope = globalThis as unknown as {
      registration: ServiceWorkerRegistration
      NotificationEvent: new (type: string, init: object) => Event
      dispatchEvent: (event: Event) => boolean
      WindowClient: { prototype: object }
    }
    // Only after a touch may a page be focused.
    Object.assign(scope.WindowClient.prototype, { focus: async () => undefined })
    const [notification] = await scope.registration.getNotifications()
    const event = new scope.NotificationEvent('notificationclick', { notification, action })
    const work: unknown[] = []
    // A constructed event may not wait.
    Object.defineProperty(event, 'waitUntil', { value: (one: unknown) => work.push(one) })
    scope.dispatchEvent(event)
    await Promise.all(work)
  }, action)
}

test('a machine that refuses is told to the owner’s phone, and taken there without a session', async ({
  page,
}) => {
  const service = await withPushServer(page)
  await page.context().grantPermissions(['notifications'])
  const world = await openAlerts(page)
  await expect(here(page)).not.toBeChecked()
  const subscribed = page.waitForResponse('**/ops/v1/push/langganan')
  await here(page).press('Enter')
  expect((await subscribed).status()).toBe(200)
  await expect(here(page)).toBeChecked()
  await expect(page.getByText('Pemberitahuan dinyalakan di ponsel ini.')).toBeVisible()

  // The test may run at night.
  await page.getByRole('checkbox', { name: 'Jam tenang' }).press('Space')
  await button(page, 'Simpan').press('Enter')
  await expect(page.getByText('Pilihan pemberitahuan sudah disimpan.')).toBeVisible()

  await refuseTwice(world)
  await expect.poll(() => service.messages.length, { timeout: 30_000 }).toBe(1)
  const [message] = service.messages
  expect(message).toMatchObject({ judul: 'Mesin 07 menolak', tuju: '/kasir/perhatian' })
  await button(page, /^Kunci kasir/).click()
  const deliver = await delivery(page)
  await deliver(message)
  await expect
    .poll(() => shown(page))
    .toEqual([{ title: 'Mesin 07 menolak', body: message?.isi, tag: message?.tanda }])
  await press(page, 'tangani')
  await expect
    .poll(() => shown(page))
    .toEqual([{ title: 'Anda ke sana', body: `Mesin 07 menolak. ${message?.isi}`, tag: message?.tanda }])
  // The page that is open goes where the notification leads, behind the PIN.
  await press(page, 'lihat')
  await page.keyboard.type(PIN.sari)
  await expect(page.getByText(/^Sari ke sana, sampai \d\d\.\d\d$/)).toBeVisible()
  // The secret is used.
  await deliver(message)
  await expect.poll(async () => (await shown(page))[0]?.title).toBe('Mesin 07 menolak')
  await press(page, 'tangani')
  await expect.poll(async () => (await shown(page))[0]?.title).toBe('Buka Perhatian untuk menangani')

  await link(page).click()
  await expect(here(page)).toBeChecked()
  const ended = page.waitForResponse('**/ops/v1/push/berhenti')
  await here(page).click()
  expect((await ended).status()).toBe(200)
  await expect(here(page)).not.toBeChecked()
  await page.reload()
  await expect(here(page)).toBeEnabled()
  await expect(here(page)).not.toBeChecked()
  await service.close()
})

test('who chooses by the keyboard alone is asked for what is missing, and finds it again', async ({
  page,
  line,
}) => {
  const { idowner } = await openAlerts(page, line.url)
  await ops('outlet', { idowner, nama: 'Laundry Kenanga', kota: 'Bandung', latitude: -6.9, longitude: 107.6 })
  await page.reload()
  const check = (name: string | RegExp) => page.getByRole('checkbox', { name })
  for (const box of await page.getByRole('group', { name: 'Yang diberitahukan' }).getByRole('checkbox').all())
    await expect(box).toBeChecked()
  await check('Cadangan data tertinggal').press('Space')
  await check('Semua outlet').press('Space')
  await button(page, 'Simpan').press('Enter')
  await expect(page.getByRole('alert')).toHaveText('Pilih paling sedikit satu outlet')
  await check(/Laundry Kenanga/).press('Space')
  await page.getByLabel('Dari jam').fill('')
  await button(page, 'Simpan').press('Enter')
  await expect(page.getByText('Tulis jam 00.00 sampai 23.59')).toBeVisible()
  await page.getByLabel('Dari jam').fill('7')
  await button(page, 'Simpan').press('Enter')
  await expect(page.getByText('Jam mulai dan jam selesai sama')).toBeVisible()
  await page.getByLabel('Dari jam').fill('2130')

  await page.route('**/ops/v1/alarm', (route) =>
    route.fulfill({ status: 404, json: { status: 404, message: 'outlet tidak ditemukan', data: null } }),
  )
  await button(page, 'Simpan').press('Enter')
  await expect(page.getByRole('alert')).toHaveText('Outlet tidak ditemukan')
  await page.unroute('**/ops/v1/alarm')
  line.cut()
  await button(page, 'Simpan').press('Enter')
  await expect(page.getByRole('alert')).toContainText('Tidak dapat terhubung')
  await expect(button(page, 'Simpan')).toBeDisabled()
  line.mend()
  await expect(button(page, 'Simpan')).toBeEnabled()
  await button(page, 'Simpan').press('Enter')
  await expect(page.getByText('Pilihan pemberitahuan sudah disimpan.')).toBeVisible()
  await page.reload()
  await expect(page.getByLabel('Dari jam')).toHaveValue('21.30')
  await expect(page.getByLabel('Sampai jam')).toHaveValue('07.00')
  await expect(check('Cadangan data tertinggal')).not.toBeChecked()
  await expect(check('Semua outlet')).not.toBeChecked()
  await expect(check(/Laundry Kenanga/)).toBeChecked()
  await expect(check(/Laundry [^K]/).first()).not.toBeChecked()
  await check('Jam tenang').press('Space')
  await expect(page.getByLabel('Dari jam')).toHaveCount(0)
  await button(page, 'Simpan').press('Enter')
  await expect(page.getByText('Pilihan pemberitahuan sudah disimpan.')).toBeVisible()
  await page.reload()
  await expect(check('Jam tenang')).not.toBeChecked()
})

test('a tablet is anybody’s: it has no alerts', async ({ page }) => {
  await page.setViewportSize(TABLET)
  await enter(await readyShop(page), 'hadi', '/kasir/perhatian')
  await expect(page.getByText('Tidak ada yang perlu perhatian')).toBeVisible()
  await expect(link(page)).toHaveCount(0)
  await page.goto(page.url().replace('/perhatian', '/pemberitahuan'))
  await expect(page.getByText('Pemberitahuan hanya di ponsel sendiri')).toBeVisible()
  await look(page, 'pemberitahuan-tablet')
})

test('a phone that forbids it says where that is changed', async ({ page }) => {
  await page.addInitScript(() => {
    Object.defineProperty(Notification, 'permission', { get: () => 'denied' })
  })
  await openAlerts(page)
  await expect(page.getByText('Izinkan pemberitahuan di setelan browser.')).toBeVisible()
  await expect(here(page)).not.toBeChecked()
})

test('an iPhone whose browser cannot says what comes first', async ({ page }) => {
  await page.addInitScript(() => {
    Reflect.deleteProperty(window, 'PushManager')
    Object.defineProperty(navigator, 'standalone', { value: false })
  })
  await openAlerts(page)
  await expect(page.getByText('Tambahkan Kasir Nyala ke Layar Utama dulu.')).toBeVisible()
})

test('looks well at each size', async ({ page }) => {
  await page.setViewportSize(PHONE)
  const { idowner } = await openAlerts(page)
  await ops('outlet', {
    idowner,
    nama: 'Laundry Kenanga di Jalan Raya Bogor',
    kota: 'Bandung',
    latitude: -6.9,
    longitude: 107.6,
  })
  await page.reload()
  await page.getByRole('checkbox', { name: 'Semua outlet' }).click()
  await button(page, 'Simpan').click()
  await expect(page.getByText('Pilih paling sedikit satu outlet')).toBeVisible()
  await lookAtSizes(page, 'pemberitahuan')
  await lookAtSizes(page, 'pemberitahuan-jam', () => page.getByLabel('Sampai jam').scrollIntoViewIfNeeded())
})
