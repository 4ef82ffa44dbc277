import { readFileSync } from 'node:fs'
import type { Page, Route } from '@playwright/test'
import { balance, type Customer, newCustomer, newWorld, topUp, type World } from './support/api.ts'
import { film, withCamera } from './support/camera.ts'
import { sticker } from './support/nyala.ts'
import { enterCode } from './support/purchase.ts'
import { expect, openAs, test, toastOf, withoutServiceWorker } from './support/test.ts'

async function shop(): Promise<{ world: World; customer: Customer }> {
  const world = await newWorld([{ nama: 'Cuci Kilat', durasi: 600, harga: 8_000 }])
  const customer = await newCustomer()
  await topUp(customer, world.idoutlet, 50_000)
  return { world, customer }
}

test('a purchase from the camera to the countdown', async ({ page, line }) => {
  const { world, customer } = await shop()
  await page.goto('/favicon.svg')
  const browser = await withCamera(await film(page, readFileSync(sticker(world.machine.id))))
  try {
    const phone = await browser.newPage({ baseURL: line.url, viewport: { width: 360, height: 780 } })
    await openAs(phone, customer, '/scanPage')
    await expect(phone).toHaveURL('/pilihLayanan', { timeout: 20_000 })
    await expect(toastOf(phone, 'Get Layanan Success')).toBeVisible()
    await expect(phone.getByRole('heading', { name: world.machine.nama })).toBeVisible()
    await phone.getByRole('button', { name: /Cuci Kilat/ }).click()
    await phone.getByRole('button', { name: new RegExp(world.outlet) }).click()
    await phone.getByRole('button', { name: 'Bayar & Nyalakan Mesin' }).click()
    await expect(toastOf(phone, 'Mesin Berhasil dinyalakan')).toBeVisible()
    await expect(phone.getByRole('timer')).toContainText(/(10:00|09:5\d)/)
    expect(await balance(customer)).toBe(42_000)
  } finally {
    await browser.close()
  }
})

test('the camera is stopped when the scanner is left', async ({ line }) => {
  const { customer } = await shop()
  const browser = await withCamera()
  try {
    const phone = await browser.newPage({ baseURL: line.url })
    await phone.addInitScript(() => {
      const tracks: MediaStreamTrack[] = []
      Object.assign(window, { tracks })
      const real = navigator.mediaDevices.getUserMedia.bind(navigator.mediaDevices)
      navigator.mediaDevices.getUserMedia = async (wish) => {
        const stream = await real(wish)
        tracks.push(...stream.getTracks())
        return stream
      }
    })
    await openAs(phone, customer, '/scanPage')
    const states = () =>
      phone.evaluate(() =>
        (window as unknown as { tracks: MediaStreamTrack[] }).tracks.map((t) => t.readyState),
      )
    await expect.poll(states).toEqual(['live'])
    await phone.getByRole('button', { name: 'Kembali' }).click()
    await expect(phone).toHaveURL('/dashboard')
    await expect.poll(states).toEqual(['ended'])
  } finally {
    await browser.close()
  }
})

test('a picture from the gallery is read', async ({ page }) => {
  const { world, customer } = await shop()
  await openAs(page, customer, '/scanPage')
  await page.getByLabel('Galeri').first().setInputFiles(sticker(world.machine.id))
  await expect(page).toHaveURL('/pilihLayanan')
  await expect(page.getByRole('heading', { name: world.machine.nama })).toBeVisible()
})

test('a picture without a code, and one that is no machine of ours', async ({ page }) => {
  const { customer } = await shop()
  await openAs(page, customer, '/scanPage')
  const gallery = page.getByLabel('Galeri').first()
  const shot = await page.screenshot({ clip: { x: 0, y: 0, width: 60, height: 60 } })
  await gallery.setInputFiles({ name: 'foto.png', mimeType: 'image/png', buffer: shot })
  await expect(toastOf(page, 'Tidak ada kode QR di gambar itu')).toBeVisible()

  const { data } = await fetchQrOfCustomer(customer)
  await gallery.setInputFiles({ name: 'qr.png', mimeType: 'image/png', buffer: Buffer.from(data, 'base64') })
  await expect(toastOf(page, 'Mesin Not found')).toBeVisible()
  await expect(page).toHaveURL('/scanPage')
})

test('a phone without camera and a refused camera say what to do', async ({ page }) => {
  const { world, customer } = await shop()
  await openAs(page, customer, '/scanPage')
  await expect(page.getByText(/Kamera tidak (diizinkan|ditemukan)/)).toBeVisible()
  await page.addInitScript(() => {
    navigator.mediaDevices.getUserMedia = () => Promise.reject(new DOMException('no', 'NotAllowedError'))
  })
  await page.reload()
  await expect(page.getByText('Kamera tidak diizinkan')).toBeVisible()
  await page.getByRole('button', { name: 'Ketik kode' }).click()
  await page.getByLabel('Kode mesin', { exact: true }).fill(world.machine.kode)
  await page.keyboard.press('Enter')
  await expect(page).toHaveURL('/pilihLayanan')
})

test('an insecure origin says so', async ({ page }) => {
  const { customer } = await shop()
  await page.addInitScript(() => Object.defineProperty(window, 'isSecureContext', { value: false }))
  await openAs(page, customer, '/scanPage')
  await expect(page.getByText('Kamera butuh alamat https')).toBeVisible()
})

test('the lamp can be switched where the camera has one', async ({ line }) => {
  const { customer } = await shop()
  const browser = await withCamera()
  try {
    const phone = await browser.newPage({ baseURL: line.url })
    await phone.addInitScript(() => {
      const asked: unknown[] = []
      Object.assign(window, { asked })
      MediaStreamTrack.prototype.getCapabilities = () => ({ torch: true }) as MediaTrackCapabilities
      MediaStreamTrack.prototype.applyConstraints = async (wish) => {
        asked.push(wish?.advanced?.[0])
      }
    })
    await openAs(phone, customer, '/scanPage')
    await phone.getByRole('button', { name: 'Nyalakan senter' }).click()
    await phone.getByRole('button', { name: 'Matikan senter' }).click()
    await expect(phone.getByRole('button', { name: 'Nyalakan senter' })).toBeVisible()
    const asked = await phone.evaluate(() => (window as unknown as { asked: unknown[] }).asked)
    expect(asked).toEqual([{ torch: true }, { torch: false }])
  } finally {
    await browser.close()
  }
})

async function fetchQrOfCustomer(customer: Customer): Promise<{ data: string }> {
  const headers = { authorization: `Bearer ${customer.token}` }
  const answer = await fetch(`${process.env.NYALA_URL}/scan/v1/transaksi/get_qrcode`, { headers })
  return (await answer.json()) as { data: string }
}

/** A phone on the scanner, whose camera sees the machine's sticker. */
async function atSticker(
  page: Page,
  baseURL: string,
  { world, customer }: { world: World; customer: Customer },
  before: (phone: Page) => Promise<unknown>,
  then: (phone: Page) => Promise<void>,
): Promise<void> {
  await page.goto('/favicon.svg')
  const browser = await withCamera(await film(page, readFileSync(sticker(world.machine.id))))
  try {
    const phone = await browser.newPage({ baseURL, viewport: { width: 360, height: 780 } })
    const complaints: string[] = []
    phone.on('console', (message) => {
      const ours = message.type() === 'error' && !/Failed to load resource|net::ERR_/.test(message.text())
      if (ours) complaints.push(message.text())
    })
    phone.on('pageerror', (error) => complaints.push(String(error)))
    await before(phone)
    await openAs(phone, customer, '/scanPage')
    await then(phone)
    expect(complaints).toEqual([])
  } finally {
    await browser.close()
  }
}

const READER = '**/assets/*.wasm'

for (const missing of [READER, '**/assets/ponyfill*.js']) {
  test(`a decoder that cannot be fetched says so, once, and can be tried again: ${missing}`, async ({
    page,
    line,
  }) => {
    let asked = 0
    const fail = (route: Route) => {
      asked += 1
      return route.abort()
    }
    await atSticker(
      page,
      line.url,
      await shop(),
      async (phone) => {
        await withoutServiceWorker(phone)
        await phone.route(missing, fail)
      },
      async (phone) => {
        await expect(phone.getByText('Pemindai belum bisa dimuat')).toBeVisible()
        await expect(phone.getByText('atau ketik kode mesin', { exact: false })).toBeVisible()
        for (const name of ['Galeri', 'Ketik kode']) {
          await expect(phone.getByRole('button', { name })).toBeEnabled()
        }
        // The wait is long enough for many camera frames: none of them sends another request.
        await phone.getByRole('button', { name: 'Ketik kode' }).click()
        await phone.getByLabel('Kode mesin', { exact: true }).pressSequentially('00000000', { delay: 100 })
        await phone.keyboard.press('Escape')
        await phone.getByRole('button', { name: 'Buang', exact: true }).click()
        expect(asked).toBe(1)
        await phone.unroute(missing, fail)
        await phone.getByRole('button', { name: 'Coba lagi' }).click()
        await expect(phone).toHaveURL('/pilihLayanan')
      },
    )
  })
}

test('a decoder that is slow says that it loads, then that it takes long, and the typed code works meanwhile', async ({
  page,
  line,
}) => {
  const { world, customer } = await shop()
  let release = () => {}
  const held = new Promise<void>((done) => {
    release = done
  })
  await atSticker(
    page,
    line.url,
    { world, customer },
    // The context also sees the requests of its service worker; a page does not.
    (phone) =>
      phone.context().route(READER, async (route) => {
        await held
        await route.continue()
      }),
    async (phone) => {
      const slow = phone.getByText(/^Koneksi lambat, pemindai masih dimuat/)
      // A camera that opens late finds the slow notice already shown.
      const loading = phone.getByText('Menyiapkan pemindai…').or(slow)
      await expect(loading).toBeVisible()
      await expect(slow).toBeVisible()
      await enterCode(phone, world.machine.kode)
      await expect(phone).toHaveURL('/pilihLayanan')
      await phone.evaluate(() => navigator.serviceWorker.ready.then(() => undefined))
      await phone.goto('/scanPage')
      await expect(loading).toBeVisible()
      release()
      await expect(phone).toHaveURL('/pilihLayanan')
    },
  )
})

test('the second visit scans at once: the decoder is kept', async ({ page, line }) => {
  await atSticker(
    page,
    line.url,
    await shop(),
    async () => {},
    async (phone) => {
      await expect(phone).toHaveURL('/pilihLayanan')
      // A route makes the browser skip its own cache.
      await phone.context().route(READER, (route) => route.abort())
      await phone.goto('/scanPage')
      await expect(phone).toHaveURL('/pilihLayanan')
    },
  )
})

test('the arrow leads back to the scanner, and the sticker that is still in view leads nowhere again', async ({
  page,
  line,
}) => {
  await atSticker(
    page,
    line.url,
    await shop(),
    async () => {},
    async (phone) => {
      await expect(phone).toHaveURL('/pilihLayanan')
      await phone.getByRole('button', { name: 'Kembali' }).click()
      await expect(phone).toHaveURL('/scanPage')
      await expect(phone.getByText('Mencari kode QR…')).toBeVisible()
      let asked = 0
      await phone.route('**/get_layanan', (route) => {
        asked += 1
        return route.continue()
      })
      // The wait is longer than the pause after a refused code.
      await phone.waitForTimeout(7_000)
      expect(asked).toBe(0)
      await expect(phone).toHaveURL('/scanPage')
    },
  )
})
