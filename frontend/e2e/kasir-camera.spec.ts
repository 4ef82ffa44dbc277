import { readFileSync } from 'node:fs'
import type { Browser, Page } from '@playwright/test'
import { balance, newMachine, newWorld } from './support/api.ts'
import { film, withCamera } from './support/camera.ts'
import { sticker } from './support/nyala.ts'
import { expect, test } from './support/test.ts'
import { amountsSold, button, openTill, pictureOf, TABLET, typeNumber, withPhone } from './support/till.ts'

const tabletIn = (browser: Browser): Promise<Page> =>
  browser.newPage({ viewport: TABLET, locale: 'id-ID', hasTouch: true })

/** Records what the till requests of its cameras, and which of them run. */
async function watchCameras(page: Page) {
  await page.addInitScript(() => {
    const asked: unknown[] = []
    const tracks: MediaStreamTrack[] = []
    Object.assign(window, { asked, tracks })
    const real = navigator.mediaDevices.getUserMedia.bind(navigator.mediaDevices)
    navigator.mediaDevices.getUserMedia = async (wish) => {
      asked.push((wish?.video as MediaTrackConstraints | undefined)?.facingMode)
      const stream = await real(wish)
      tracks.push(...stream.getTracks())
      return stream
    }
  })
  const seen = <T>(what: 'asked' | 'tracks') =>
    page.evaluate((what) => (window as unknown as Record<string, T[]>)[what] ?? [], what)
  return {
    last: async () => (await seen<ConstrainDOMStringParameters>('asked')).at(-1)?.ideal,
    count: async () => (await seen('asked')).length,
    running: () =>
      page.evaluate(
        () =>
          (window as unknown as { tracks: MediaStreamTrack[] }).tracks.filter(
            ({ readyState }) => readyState === 'live',
          ).length,
      ),
  }
}

test('the camera reads the code of a phone: customer, top-up, and the phone shows it', async ({
  context,
  page: maker,
}) => {
  const { phone, customer } = await withPhone(context)
  const code = await pictureOf(phone)
  await maker.goto('/favicon.svg')
  const browser = await withCamera(await film(maker, Buffer.from(code.split(',')[1] ?? '', 'base64')))
  try {
    const page = await tabletIn(browser)
    const { idoutlet } = await openTill(page)
    await expect(page.getByRole('region', { name: 'Pelanggan', exact: true })).toContainText('Siti R.')
    await button(page, 'Rp 50.000').click()
    await button(page, 'Isi Rp 50.000 untuk Siti').click()
    await expect(page.getByText('Saldo Siti R. sudah masuk')).toBeVisible()
    await expect(phone.getByText('Saldo masuk')).toBeVisible()
    expect(await balance(customer)).toBe(50_000)
    expect(await amountsSold(idoutlet)).toEqual([50_000])
  } finally {
    await browser.close()
  }
})

test("a machine's sticker before the camera is told, and the till goes on", async ({ page: maker }) => {
  const { idoutlet } = await newWorld([])
  const machine = await newMachine(idoutlet, 'Mesin 01')
  await maker.goto('/favicon.svg')
  const browser = await withCamera(await film(maker, readFileSync(sticker(machine.id))))
  try {
    const page = await tabletIn(browser)
    await openTill(page)
    await expect(page.getByText('Itu stiker mesin.', { exact: false })).toBeVisible()
    await expect(page.getByText('Ketik nomor WhatsApp')).toBeVisible()
    await typeNumber(page, '089900011122')
    await page.keyboard.press('Enter')
    await expect(page.getByRole('region', { name: /belum terdaftar/i })).toBeVisible()
  } finally {
    await browser.close()
  }
})

test('the side that the camera looks to is remembered, and that it is off; it stops with the screen', async () => {
  const browser = await withCamera()
  try {
    const page = await tabletIn(browser)
    const cameras = await watchCameras(page)
    await openTill(page)
    await expect.poll(cameras.running).toBe(1)
    expect(await cameras.last()).toBe('environment')

    await button(page, 'Kamera depan').click()
    await expect.poll(cameras.last).toBe('user')
    await expect.poll(cameras.running).toBe(1)
    await page.reload()
    await expect(button(page, 'Kamera belakang')).toBeVisible()
    await expect.poll(cameras.last).toBe('user')
    await expect.poll(cameras.running).toBe(1)

    await page.getByRole('link', { name: 'Transaksi' }).click()
    await expect(page.getByText('Belum ada isi saldo')).toBeVisible()
    await expect.poll(cameras.running).toBe(0)
    await page.getByRole('link', { name: 'Isi Saldo' }).click()
    await expect.poll(cameras.running).toBe(1)

    await button(page, 'Matikan').click()
    await expect.poll(cameras.running).toBe(0)
    await page.reload()
    await expect(page.getByText('Kamera mati.', { exact: false })).toBeVisible()
    expect(await cameras.count()).toBe(0)
    await button(page, 'Nyalakan kamera').click()
    await expect.poll(cameras.last).toBe('user')
  } finally {
    await browser.close()
  }
})
