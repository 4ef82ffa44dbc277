import type { Page } from '@playwright/test'
import { fault, machinesNow, newCustomer, newMachine, ops, topUp } from './support/api.ts'
import { machinesShown, openBoard, openStagedBoard } from './support/board.ts'
import { buy } from './support/buy.ts'
import { look, lookAtSizes } from './support/look.ts'
import { ALL_SIZES, PHONE } from './support/sizes.ts'
import { expect, test } from './support/test.ts'
import { button, callAt, openAsOwner, sessionOf, TABLET, tokenOf } from './support/till.ts'

test.use({ viewport: TABLET })

const SHORT = { nama: 'Bilas', durasi: 3, harga: 5_000 }
const LONG = { nama: 'Cuci Reguler', durasi: 2_100, harga: 15_000 }

/** Keys that follow each other faster count as a scanner's. */
const press = async (page: Page, ...keys: string[]) => {
  for (const key of keys) {
    await page.waitForTimeout(300)
    await page.keyboard.press(key)
  }
}

/** The page shows what the server says, and this of one machine. */
async function expectSame(page: Page, idoutlet: number, machine: string): Promise<void> {
  await expect.poll(() => machinesShown(page)).toContain(machine)
  expect(await machinesShown(page)).toEqual(await machinesNow(idoutlet))
}

const tile = (page: Page, name: string) => page.locator('[data-machine]').filter({ hasText: name })
const panel = (page: Page) => page.getByRole('complementary')
const inPanel = (page: Page, name: string) => panel(page).getByRole('button', { name, exact: true })

test('machines start, finish, go offline, are closed and come back, as the server says at each step', async ({
  page,
}) => {
  const { idoutlet, world } = await openBoard(page, 'hadi', { services: [SHORT] })
  await newMachine(idoutlet, 'Mesin 08')
  await expectSame(page, idoutlet, 'Mesin 08 siap')
  await expect(page.getByText('Langsung', { exact: true })).toBeVisible()

  const customer = await newCustomer()
  await topUp(customer, idoutlet, 50_000)
  await buy(customer, world)
  await expectSame(page, idoutlet, 'Mesin 07 jalan')
  await expectSame(page, idoutlet, 'Mesin 07 siap')
  await expect(tile(page, 'Mesin 07')).toContainText(/selesai \d\d\.\d\d/)

  await fault(world.machine.id, 'offline')
  await expectSame(page, idoutlet, 'Mesin 07 offline')
  await tile(page, 'Mesin 07').click()
  await press(page, 't')
  await expect(panel(page).getByRole('alert')).toContainText('Mesin belum menjawab')
  await fault(world.machine.id, 'ok')
  await expectSame(page, idoutlet, 'Mesin 07 siap')

  await inPanel(page, 'Tutup mesin').click()
  await expect(panel(page).getByText('Pilih alasannya dulu.')).toBeVisible()
  await inPanel(page, 'Bocor').click()
  await inPanel(page, 'Tutup mesin').click()
  await expectSame(page, idoutlet, 'Mesin 07 ditutup')
  await expect(panel(page).getByText('Hadi')).toBeVisible()
  await expect(tile(page, 'Mesin 07')).toContainText('Ditutup, Bocor')
  await inPanel(page, 'Buka mesin').click()
  await expectSame(page, idoutlet, 'Mesin 07 siap')

  await ops(`mesin/${world.machine.id}`, { aktif: false })
  await expect.poll(() => machinesShown(page)).toEqual(['Mesin 08 siap'])
  await expect(panel(page).getByText('Mesin ini tidak ada lagi di papan.')).toBeVisible()
})

test('a kasir closes and stops a machine, and cannot open it', async ({ page }) => {
  const { idoutlet, world } = await openBoard(page, 'rina', { services: [LONG] })
  const customer = await newCustomer()
  await topUp(customer, idoutlet, 50_000)
  await buy(customer, world)
  await expectSame(page, idoutlet, 'Mesin 07 jalan')
  await tile(page, 'Mesin 07').click()
  await expect(panel(page).getByText(/^SLF\d{15}$/)).toBeVisible()
  await expect(panel(page).getByText('Cuci Reguler', { exact: true })).toBeVisible()
  await expect(panel(page).getByRole('button', { name: /Uji/ })).toHaveCount(0)
  await inPanel(page, 'Tanya mesin sekarang').click()
  await expect(page.getByText('Mesin 07 menjawab: jalan.')).toBeVisible()

  await inPanel(page, 'Hentikan').click()
  await expect(panel(page).getByText('Hentikan Mesin 07 sekarang.', { exact: false })).toBeVisible()
  await inPanel(page, 'Lainnya').click()
  await panel(page).getByLabel('Alasannya').fill('Air tumpah ke lantai')
  await inPanel(page, 'Hentikan').click()
  await expectSame(page, idoutlet, 'Mesin 07 siap')
  await expect(inPanel(page, 'Hentikan')).toHaveCount(0)

  await inPanel(page, 'Tutup mesin').click()
  await inPanel(page, 'Rusak').click()
  await inPanel(page, 'Tutup mesin').click()
  await expectSame(page, idoutlet, 'Mesin 07 ditutup')
  await expect(inPanel(page, 'Buka mesin')).toHaveCount(0)
})

test('a closing whose answer is lost is asked about until it is decided', async ({ page, line }) => {
  const { idoutlet } = await openBoard(page, 'rina', { url: line.url })
  await expectSame(page, idoutlet, 'Mesin 07 siap')
  await tile(page, 'Mesin 07').click()
  await inPanel(page, 'Tutup mesin').click()
  await inPanel(page, 'Bocor').click()
  await page.route('**/ops/v1/mesin/*/tutup', async (route) => {
    await route.fetch()
    await route.abort()
  })
  await inPanel(page, 'Tutup mesin').click()
  await expect(panel(page).getByText(/Belum terjawab: Tutup Mesin 07/)).toBeVisible()
  await page.unroute('**/ops/v1/mesin/*/tutup')
  await expect(page.getByText('Mesin 07 ditutup.')).toBeVisible()
  await expect(panel(page).getByText(/Belum terjawab/)).toHaveCount(0)
})

test('who takes an entry is shown to all; what others took, or what is over, is said plainly', async ({
  page,
}) => {
  const shop = await openBoard(page, 'rina', { services: [LONG] })
  const { idoutlet, world } = shop
  const customer = await newCustomer()
  await topUp(customer, idoutlet, 50_000)
  const others = await Promise.all(['Mesin 08', 'Mesin 09'].map((name) => newMachine(idoutlet, name)))
  for (const { id } of [world.machine, ...others]) {
    await fault(id, 'refuse')
    await buy(customer, world, id)
    await buy(customer, world, id)
    await fault(id, 'ok')
  }
  const strip = page.getByRole('region', { name: 'Perlu perhatian' })
  await expect(strip.getByText('Dua kali menolak menyala dalam satu jam.')).toHaveCount(3)
  await expect(button(page, /^Perhatian/)).toContainText('3')

  await button(page, 'Saya tangani Mesin 07').click()
  await expect(strip.getByText(/^Rina ke sana, sampai \d\d\.\d\d$/)).toBeVisible()
  const entries = await attentionNow(page, idoutlet)
  const taken = entries.find(({ nama }) => nama === 'Mesin 07')
  expect(taken).toMatchObject({ ditangani: { nama: 'Rina' } })

  // Tono takes the entry first, from the same tablet. The page does not know that yet when it sends its call.
  const { token } = await sessionOf(shop, 'tono')
  await page.route('**/ops/v1/perhatian/tangani', async (route) => {
    await callAt(page, 'perhatian/tangani', route.request().postDataJSON(), token)
    await route.continue()
  })
  await button(page, 'Saya tangani Mesin 08').click()
  await expect(page.getByText('Mesin 08 sudah ditangani orang lain.')).toBeVisible()
  await expect(strip.getByText(/^Tono ke sana, sampai \d\d\.\d\d$/)).toBeVisible()
  await page.unroute('**/ops/v1/perhatian/tangani')

  await page.route('**/ops/v1/perhatian/tangani', async (route) => {
    await buy(customer, world, others[1]?.id)
    await route.continue()
  })
  await button(page, 'Saya tangani Mesin 09').click()
  await expect(page.getByText('Mesin 09 sudah beres, tidak perlu ditangani lagi.')).toBeVisible()
  await expect(strip.getByText('Mesin 09')).toHaveCount(0)
})

async function attentionNow(page: Page, idoutlet: number) {
  const headers = { authorization: `Bearer ${await tokenOf(page)}` }
  const url = new URL(`/ops/v1/perhatian?idoutlet=${idoutlet}`, page.url()).href
  const { data } = await (await page.request.get(url, { headers })).json()
  return data as { nama: string }[]
}

test('a lost change is noticed at the next one, and the whole board comes again', async ({ page }) => {
  let drop = false
  let dropped = 0
  await page.routeWebSocket(/socket\.io/, (ws) => {
    const server = ws.connectToServer()
    server.onMessage((message) => {
      if (drop && String(message).startsWith('42["papan/')) dropped++
      else ws.send(message)
    })
  })
  const { idoutlet, world } = await openBoard(page, 'hadi')
  await newMachine(idoutlet, 'Mesin 08')
  await expectSame(page, idoutlet, 'Mesin 08 siap')
  // By now the socket has left polling.
  await callAt(page, `mesin/${world.machine.id}/tutup`, { alasan: 'Bocor' }, await tokenOf(page))
  await expectSame(page, idoutlet, 'Mesin 07 ditutup')
  drop = true
  await callAt(page, `mesin/${world.machine.id}/buka`, undefined, await tokenOf(page))
  await expect.poll(() => dropped).toBeGreaterThan(0)
  expect(await machinesShown(page)).toContain('Mesin 07 ditutup')
  drop = false
  await newMachine(idoutlet, 'Mesin 09')
  await expectSame(page, idoutlet, 'Mesin 09 siap')
  expect(await machinesShown(page)).toContain('Mesin 07 siap')
})

test('one change touches one tile', async ({ page }) => {
  const { socket, topic, board } = await openStagedBoard(page, 100)
  const idle = board.mesin.map((one) => ({ ...one, keadaan: 'siap', ends_at: null, sejak: null }))
  socket.emit(topic, { versi: 2, server_time: Date.now(), mesin: idle, perhatian: [] })
  await expect(page.locator('[data-state="siap"]')).toHaveCount(100)
  await page.evaluate(() => {
    const touched = new Set<string>()
    Object.assign(window, { touched })
    new MutationObserver((records) => {
      for (const { target } of records) {
        const element = target instanceof Element ? target : target.parentElement
        const machine = element?.closest('[data-machine]')?.getAttribute('data-machine')
        if (machine) touched.add(machine)
        else if (element?.closest('ul')?.querySelector('[data-machine]')) touched.add('the grid itself')
      }
    }).observe(document.body, { subtree: true, childList: true, attributes: true, characterData: true })
  })
  const one = idle[41]
  for (let n = 0; n < 50; n++) {
    const keadaan = n % 2 === 0 ? 'offline' : 'siap'
    socket.emit(topic, { versi: 3 + n, server_time: Date.now(), mesin: [{ ...one, keadaan }] })
  }
  socket.emit(topic, { versi: 53, server_time: Date.now(), mesin: [{ ...one, keadaan: 'perlu_petugas' }] })
  await expect(page.locator('[data-state="perlu_petugas"]')).toHaveCount(1)
  expect(await page.evaluate(() => [...(window as unknown as { touched: Set<string> }).touched])).toEqual([
    String(one?.id),
  ])
})

test('a deaf socket is told within 30 s, and asked again', async ({ page }) => {
  await page.clock.install()
  let answering = true
  const { socket, topic, subscribed } = await openStagedBoard(page, 6, { answers: () => answering })
  await expect(page.getByText('Langsung', { exact: true })).toBeVisible()
  answering = false
  await page.clock.runFor(29_000)
  await expect(page.getByText('Langsung', { exact: true })).toBeVisible()
  const before = subscribed()
  await page.clock.runFor(2_000)
  await expect(page.getByText(/^Berhenti diperbarui sejak \d\d\.\d\d$/)).toBeVisible()
  await expect(page.locator('[data-stale]').filter({ has: page.locator('[data-machine]') })).toHaveCount(1)
  await expect.poll(subscribed).toBeGreaterThan(before)
  // A sign of life with the known number: nothing is missing.
  const server_time = await page.evaluate(() => Date.now())
  socket.emit(topic, { versi: 1, server_time })
  await expect(page.getByText('Langsung', { exact: true })).toBeVisible()
})

test('without network the last picture stays, greyed, and is current again afterwards', async ({
  page,
  line,
}) => {
  const { idoutlet, world } = await openBoard(page, 'hadi', { url: line.url })
  await expectSame(page, idoutlet, 'Mesin 07 siap')
  line.cut()
  await expect(page.getByText(/^Berhenti diperbarui sejak/)).toBeVisible()
  await expect.poll(() => machinesShown(page)).toEqual(['Mesin 07 siap'])
  await ops(`mesin/${world.machine.id}/tutup`, { alasan: 'Bocor' })
  line.mend()
  await expectSame(page, idoutlet, 'Mesin 07 ditutup')
  await expect(page.getByText('Langsung', { exact: true })).toBeVisible()
})

test('the keyboard alone', async ({ page }) => {
  await openStagedBoard(page, 14)
  const focused = () =>
    page.evaluate(() => document.querySelector('[data-machine]:focus [data-name]')?.textContent)
  await press(page, '/')
  await expect(page.getByRole('searchbox')).toBeFocused()
  await press(page, '0', '7')
  await expect(page.locator('[data-machine]:visible')).toHaveCount(1)
  await press(page, 'Escape')
  await expect(page.locator('[data-machine]:visible')).toHaveCount(14)

  await press(page, '2')
  await expect(button(page, /^Siap \d/)).toHaveAttribute('aria-pressed', 'true')
  await press(page, '4')
  await expect(page.locator('[data-machine]:visible')).toHaveCount(3)
  await press(page, '1')
  await expect(page.locator('[data-machine]:visible')).toHaveCount(14)

  for (let steps = 0; steps < 40 && !(await focused()); steps++) await press(page, 'Tab')
  expect(await focused()).toBe('Cuci 01')
  await press(page, 'ArrowRight', 'ArrowRight', 'ArrowLeft')
  expect(await focused()).toBe('Cuci 02')
  await press(page, 'ArrowDown')
  expect(await focused()).not.toBe('Cuci 02')
  await press(page, 'ArrowUp')
  expect(await focused()).toBe('Cuci 02')
  await press(page, 'End')
  expect(await focused()).toBe('Pengering 06')
  await press(page, 'Home', 'Enter')
  await expect(panel(page).getByRole('heading', { name: 'Cuci 01' })).toBeVisible()
  await press(page, 'Escape')
  await expect(panel(page)).toHaveCount(0)
  expect(await focused()).toBe('Cuci 01')
  await press(page, 'x')
  await expect(panel(page).getByText('Tutup Cuci 01 untuk pelanggan.', { exact: false })).toBeVisible()
  await press(page, 'Escape', '?')
  await expect(page.getByRole('dialog', { name: 'Tombol di papan' })).toBeVisible()
  await press(page, 'Escape')
  await expect(page.getByRole('dialog')).toHaveCount(0)
})

test('a wall shows no bar and does not lock itself; who leaves it types a PIN', async ({ page }) => {
  await page.clock.install()
  await openStagedBoard(page, 14)
  await page.getByRole('link', { name: 'Layar dinding' }).click()
  await expect(page.getByRole('heading', { name: 'Laundry Melati', level: 1 })).toBeVisible()
  await expect(page.getByRole('navigation')).toHaveCount(0)
  await expect(page.getByRole('button')).toHaveCount(0)
  await expect(page.getByText(/^data \d+ detik lalu$/)).toBeVisible()
  await page.clock.fastForward('16:00')
  await expect(page.getByRole('heading', { name: 'Laundry Melati', level: 1 })).toBeVisible()
  const sizes = await page.evaluate(() =>
    [...document.querySelectorAll('main *')]
      .filter((node) => [...node.childNodes].some((child) => child instanceof Text && child.data.trim()))
      .map((node) => Number.parseFloat(getComputedStyle(node).fontSize)),
  )
  expect(Math.min(...sizes)).toBeGreaterThanOrEqual(14)
  await page.keyboard.press('Escape')
  await expect(page.getByText('Siapa yang bertugas?')).toBeVisible()
})

test('an owner sees each outlet in sight, in their own browser', async ({ page }) => {
  const first = await openBoard(page)
  const { idowner } = first.world
  const place = { kota: 'Bandung', latitude: -6.9147, longitude: 107.6098 }
  const { idoutlet } = await ops<{ idoutlet: number }>('outlet', {
    idowner,
    nama: 'Laundry Kenanga',
    ...place,
  })
  await newMachine(idoutlet, 'Kenanga 1')
  await openAsOwner(page, idowner)
  await page.getByRole('link', { name: 'Mesin' }).click()
  await expect.poll(() => machinesShown(page)).toEqual(['Mesin 07 siap'])
  await page.getByLabel('Outlet').selectOption('Laundry Kenanga, Bandung')
  await expect.poll(() => machinesShown(page)).toEqual(['Kenanga 1 siap'])
})

// Axe takes a second for 100 machines, and finds no more in them than in 14 of the same states: `make test` looks at them in one size.
for (const [count, lookAt] of [
  [14, lookAtSizes],
  [100, ALL_SIZES ? lookAtSizes : look],
] as const)
  test(`${count} machines look well`, async ({ page }) => {
    if (count === 14 || ALL_SIZES) await page.setViewportSize(PHONE)
    await openStagedBoard(page, count, { who: 'hadi' })
    await lookAt(page, `papan-${count}`)
    await tile(page, 'Cuci 07').click()
    await expect(page.getByText('Uang ditahan')).toBeVisible()
    await lookAt(page, `papan-${count}-rincian`)
    await page.goto(`${page.url()}?dinding`)
    await expect(page.locator('[data-machine]')).toHaveCount(count)
    await lookAt(page, `dinding-${count}`)
  })
