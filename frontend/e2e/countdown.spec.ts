import type { Locator, Page } from '@playwright/test'
import { type Customer, newCustomer, newMachine, newWorld, ops, topUp, type World } from './support/api.ts'
import { buy } from './support/buy.ts'
import { expect, openAs, test } from './support/test.ts'

async function shop(duration: number): Promise<{ world: World; customer: Customer }> {
  const world = await newWorld([{ nama: 'Cuci Kilat', durasi: duration, harga: 1_000 }])
  const customer = await newCustomer()
  await topUp(customer, world.idoutlet, 50_000)
  return { world, customer }
}

/** Starts a machine through the API, without the screens. */
async function run(
  { world, customer }: { world: World; customer: Customer },
  idmesin?: number,
): Promise<void> {
  const { answer } = await buy(customer, world, idmesin)
  expect(answer.status, answer.message).toBe(200)
}

/** Seconds left according to the operators' endpoint, which queries the machine itself. */
async function truth(idmesin: number): Promise<number> {
  const answer = await fetch(`${process.env.NYALA_URL}/ops/v1/mesin/${idmesin}`, {
    headers: { authorization: `Bearer ${process.env.NYALA_KEY}` },
  })
  const { data } = (await answer.json()) as { data: { tl: number | null } }
  return (data.tl ?? 0) / 1000
}

async function shown(timer: Locator): Promise<number> {
  const text = (await timer.textContent()) ?? ''
  const [, minutes, seconds] = /(\d+):(\d\d)$/.exec(text) ?? []
  return Number(minutes) * 60 + Number(seconds)
}

/** The card shows the machine's own time left, within a second. */
async function expectRight(page: Page, idmesin: number, timer = page.getByRole('timer')): Promise<void> {
  await expect(timer).toContainText(/\d\d:\d\d/)
  await expect
    .poll(async () => Math.abs((await shown(timer)) - (await truth(idmesin))), { timeout: 5_000 })
    .toBeLessThanOrEqual(1)
}

test('a run is watched to its end, then the card goes and the data is loaded anew', async ({ page }) => {
  const all = await shop(15)
  await openAs(page, all.customer)
  await run(all)
  await page.reload()
  await expect(page.getByText('Sedang Berlangsung')).toBeVisible()
  await expect(page.getByRole('timer')).toContainText(/00:[01]\d/)
  await expect(page.getByText('Selesai', { exact: true })).toBeVisible({ timeout: 25_000 })
  await expect(page.getByText('Sedang Berlangsung')).toBeHidden()
  await expect(page.getByText('Selamat datang di Nyala')).toBeVisible()
})

test('every card is right at once, after a reload, too', async ({ page }) => {
  const all = await shop(600)
  const other = await newMachine(all.world.idoutlet, 'Mesin 08')
  await run(all)
  await run(all, other.id)
  await openAs(page, all.customer)
  for (const machine of [all.world.machine, other]) {
    const card = page.getByRole('listitem').filter({ hasText: machine.nama })
    await expectRight(page, machine.id, card.getByRole('timer'))
  }
  await page.reload()
  const card = page.getByRole('listitem').filter({ hasText: other.nama })
  await expectRight(page, other.id, card.getByRole('timer'))
})

for (const hours of [1, -1]) {
  test(`a phone clock ${hours} h wrong changes nothing`, async ({ page }) => {
    await page.addInitScript((shift) => {
      const Real = Date
      const now = () => Real.now() + shift
      class Wrong extends Real {
        constructor(...args: unknown[]) {
          // @ts-expect-error: passes on whatever Date takes
          super(...(args.length > 0 ? args : [now()]))
        }
        static override now = now
      }
      Object.assign(window, { Date: Wrong })
    }, hours * 3_600_000)
    const all = await shop(600)
    await run(all)
    await openAs(page, all.customer)
    await expectRight(page, all.world.machine.id)
    await page.reload()
    await expectRight(page, all.world.machine.id)
  })
}

test('the clock is set while watching', async ({ page }) => {
  await page.addInitScript(() => {
    const real = Date.now
    Object.assign(window, { shift: 0 })
    Date.now = () => real() + (window as unknown as { shift: number }).shift
  })
  const all = await shop(600)
  await run(all)
  await openAs(page, all.customer)
  await expectRight(page, all.world.machine.id)
  await page.evaluate(() => Object.assign(window, { shift: 1_800_000 }))
  await expect
    .poll(async () => Math.abs((await shown(page.getByRole('timer'))) - (await truth(all.world.machine.id))))
    .toBeLessThanOrEqual(1)
})

test('the line is cut while watching: it goes on, says so, and comes back', async ({ page, line }) => {
  const all = await shop(600)
  await run(all)
  await openAs(page, all.customer)
  await expectRight(page, all.world.machine.id)
  line.cut()
  await expect(page.getByText('Menyambungkan kembali…')).toBeVisible()
  await expectRight(page, all.world.machine.id)
  line.mend()
  await expect(page.getByText('Menyambungkan kembali…')).toBeHidden({ timeout: 15_000 })
  await expectRight(page, all.world.machine.id)
})

test('a run that ends while the phone is away is gone after the return', async ({ page, line }) => {
  const all = await shop(12)
  await run(all)
  await openAs(page, all.customer)
  await expect(page.getByRole('timer')).toContainText(/00:[01]\d/)
  line.cut()
  await expect(page.getByRole('timer')).toContainText('00:00', { timeout: 20_000 })
  line.mend()
  await expect(page.getByText('Sedang Berlangsung')).toBeHidden({ timeout: 20_000 })
})

test('without a network the last balance and run are shown with their age', async ({ page, line }) => {
  const all = await shop(600)
  await run(all)
  await openAs(page, all.customer)
  await expectRight(page, all.world.machine.id)
  // The shell is what the service worker brings; here only the data is missing.
  await page.route('**/scan/**', (route) => route.abort())
  await page.reload()
  await expect(page.getByText('Rp 49.000')).toBeVisible()
  await expect(page.getByRole('timer')).toContainText(/09:\d\d/)
  await expect(page.getByText(/^Data per \d\d\/\d\d\/\d{4} \d\d:\d\d/)).toBeVisible({ timeout: 15_000 })
  const again = page.getByRole('button', { name: 'Coba lagi' })
  await page.unroute('**/scan/**')
  let answer = () => {}
  const held = new Promise<void>((done) => {
    answer = done
  })
  await page.route('**/scan/**', async (route) => {
    await held
    await route.continue()
  })
  await again.click()
  await expect(again).toHaveAttribute('aria-busy', 'true')
  answer()
  await expect(page.getByText(/^Data per/)).toBeHidden()
  expect(line.url).toBeTruthy()
})

test('a stopped machine leaves the dashboard', async ({ page }) => {
  const all = await shop(600)
  await run(all)
  await openAs(page, all.customer)
  await expect(page.getByRole('timer')).toContainText(/09:\d\d|10:00/)
  await ops(`mesin/${all.world.machine.id}/stop`, { alasan: 'pintu macet' })
  await expect(page.getByText('Sedang Berlangsung')).toBeHidden({ timeout: 15_000 })
})

test('the outlet of a card: city and the way there', async ({ page }) => {
  const { customer, world } = await shop(60)
  await openAs(page, customer)
  await page.getByRole('button', { name: `Info outlet ${world.outlet}` }).click()
  const dialog = page.getByRole('dialog', { name: world.outlet })
  await expect(dialog.getByText('Bandung')).toBeVisible()
  await expect(dialog.getByRole('link', { name: 'Lihat Lokasi' })).toHaveAttribute(
    'href',
    /-6\.9147.*107\.6098/,
  )
  await page.keyboard.press('Escape')
  await expect(dialog).toBeHidden()
})
