import { readFileSync } from 'node:fs'
import type { Page } from '@playwright/test'
import { type Customer, newCustomer, newMachine, newWorld, topUp, type World } from './support/api.ts'
import { film, type Part, table, withCamera } from './support/camera.ts'
import { sticker } from './support/nyala.ts'
import { writeQr } from './support/qr.ts'
import { expect, openAs, test, toastOf } from './support/test.ts'
import { openTill, pictureOf, TABLET, withPhone } from './support/till.ts'

/** A merchant's payment code, as found on every counter; it is far longer than ours. */
const QRIS =
  '00020101021126610014COM.GO-JEK.WWW01189360091434506469550210G4506469550303UMI51440014ID.CO.QRIS.WWW0215ID10200211817450303UMI5204581253033605802ID5914LAUNDRY MELATI6007BANDUNG61054011162070703A016304D1F2'
const NOT_OURS = 'Ini bukan kode QR mesin Nyala'

async function shop(): Promise<{
  world: World
  customer: Customer
  ours: string
  qris: string
  url: string
}> {
  const world = await newWorld([{ nama: 'Cuci Kilat', durasi: 600, harga: 8_000 }])
  const customer = await newCustomer()
  await topUp(customer, world.idoutlet, 50_000)
  const ours = readFileSync(sticker(world.machine.id)).toString('base64')
  return { world, customer, ours, qris: await writeQr(QRIS), url: await writeQr('https://example.com/promo') }
}

type Table = (codes: { ours: string; qris: string; url: string }) => Part[]

const TABLES: [name: string, width: number, height: number, parts: Table][] = [
  [
    'a QRIS sticker left of ours',
    900,
    420,
    ({ ours, qris }) => [
      { png: qris, x: 20, y: 20, side: 380 },
      { png: ours, x: 480, y: 20, side: 380 },
    ],
  ],
  [
    'a QRIS sticker above ours, and far larger',
    1200,
    1900,
    ({ ours, qris }) => [
      { png: qris, x: 50, y: 30, side: 1100 },
      { png: ours, x: 450, y: 1300, side: 320 },
    ],
  ],
  [
    'three codes on a photo of twelve megapixels, ours the smallest',
    4000,
    3000,
    ({ ours, qris, url }) => [
      { png: qris, x: 200, y: 200, side: 1700 },
      { png: url, x: 2200, y: 200, side: 1400 },
      { png: ours, x: 2600, y: 2200, side: 420 },
    ],
  ],
]

const upload = (page: Page, buffer: Buffer) =>
  page.getByLabel('Galeri').first().setInputFiles({ name: 'foto.png', mimeType: 'image/png', buffer })

for (const [name, width, height, parts] of TABLES) {
  test(`a picture with ${name} finds the machine`, async ({ page }) => {
    const { world, customer, ...codes } = await shop()
    await openAs(page, customer, '/scanPage')
    await upload(page, await table(page, parts(codes), width, height))
    await expect(page).toHaveURL('/pilihLayanan')
    await expect(page.getByRole('heading', { name: world.machine.nama })).toBeVisible()
  })
}

test('a picture in which no code is ours says so', async ({ page }) => {
  const { customer, qris, url } = await shop()
  await openAs(page, customer, '/scanPage')
  const parts = [
    { png: qris, x: 20, y: 20, side: 380 },
    { png: url, x: 480, y: 20, side: 380 },
  ]
  await upload(page, await table(page, parts, 900, 420))
  await expect(page.getByText(NOT_OURS)).toBeVisible()
  await expect(page).toHaveURL('/scanPage')
})

/** The camera's view: a large foreign code on the left, and `second` on the right. */
const beside = (first: string, second: string): Part[] => [
  { png: first, x: 10, y: 70, side: 330 },
  { png: second, x: 370, y: 130, side: 250 },
]

test('before the camera ours wins over the QRIS sticker beside it', async ({ page, line }) => {
  const { customer, ours, qris } = await shop()
  await page.goto('/favicon.svg')
  const browser = await withCamera(await film(page, await table(page, beside(qris, ours))))
  try {
    const phone = await browser.newPage({ baseURL: line.url, viewport: { width: 360, height: 780 } })
    await openAs(phone, customer, '/scanPage')
    await expect(phone).toHaveURL('/pilihLayanan')
    await expect(toastOf(phone, 'Mesin Not found')).toBeHidden()
  } finally {
    await browser.close()
  }
})

test('before the camera two codes of others are told', async ({ page, line }) => {
  const { customer, qris, url } = await shop()
  await page.goto('/favicon.svg')
  const browser = await withCamera(await film(page, await table(page, beside(qris, url))))
  try {
    const phone = await browser.newPage({ baseURL: line.url, viewport: { width: 360, height: 780 } })
    await openAs(phone, customer, '/scanPage')
    await expect(phone.getByText(NOT_OURS)).toBeVisible()
    await expect(phone).toHaveURL('/scanPage')
  } finally {
    await browser.close()
  }
})

test("a browser's own detector that names the QRIS sticker first is asked for all", async ({
  page,
  line,
}) => {
  const { world, customer, ours } = await shop()
  await page.goto('/favicon.svg')
  const browser = await withCamera(await film(page, Buffer.from(ours, 'base64')))
  try {
    const phone = await browser.newPage({ baseURL: line.url, viewport: { width: 360, height: 780 } })
    await phone.addInitScript(
      ({ qris, machine }) => {
        class BarcodeDetector {
          static getSupportedFormats = async () => ['qr_code']
          async detect({ width, height }: HTMLCanvasElement) {
            const at = (rawValue: string, x: number) => ({
              rawValue,
              boundingBox: new DOMRect(x, 0, 50, 50),
            })
            // The test picture with which the app checks that the browser's reader works.
            if (width === height) return [at('NYALA', 0)]
            return [at(qris, 0), at(machine, 100)]
          }
        }
        Object.assign(window, { BarcodeDetector })
      },
      { qris: QRIS, machine: world.machine.qr },
    )
    await openAs(phone, customer, '/scanPage')
    await expect(phone).toHaveURL('/pilihLayanan')
  } finally {
    await browser.close()
  }
})

test("the till's camera takes the phone's code beside a QRIS sticker and a machine's", async ({
  context,
  page: maker,
}) => {
  const { phone } = await withPhone(context)
  const code = (await pictureOf(phone)).split(',')[1] ?? ''
  await maker.goto('/favicon.svg')
  const parts = [
    { png: await writeQr(QRIS), x: 5, y: 10, side: 300 },
    { png: code, x: 330, y: 10, side: 300 },
  ]
  const browser = await withCamera(await film(maker, await table(maker, parts)))
  try {
    const page = await browser.newPage({ viewport: TABLET, locale: 'id-ID', hasTouch: true })
    await openTill(page)
    await expect(page.getByRole('region', { name: 'Pelanggan', exact: true })).toContainText('Siti R.')
    await expect(page.getByText('Itu bukan kode')).toBeHidden()
  } finally {
    await browser.close()
  }
})

test("the till's camera tells a machine's sticker beside a QRIS sticker, and two codes of others", async ({
  page: maker,
}) => {
  const { idoutlet } = await newWorld([])
  const machine = await newMachine(idoutlet, 'Mesin 01')
  await maker.goto('/favicon.svg')
  const [qris, ours, url] = [
    await writeQr(QRIS),
    await writeQr(machine.qr),
    await writeQr('https://example.com/promo'),
  ]
  for (const [second, words] of [
    [ours, 'Itu stiker mesin.'],
    [url, 'Itu bukan kode pelanggan Nyala.'],
  ] as const) {
    const browser = await withCamera(await film(maker, await table(maker, beside(qris, second))))
    try {
      const page = await browser.newPage({ viewport: TABLET, locale: 'id-ID', hasTouch: true })
      await openTill(page)
      await expect(page.getByText(words, { exact: false })).toBeVisible()
    } finally {
      await browser.close()
    }
  }
})
