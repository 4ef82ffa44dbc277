import { machinesNow, newCustomer, ops, topUp } from './support/api.ts'
import { openBoard } from './support/board.ts'
import { buy } from './support/buy.ts'
import { playDevice } from './support/device-sim.ts'
import { look } from './support/look.ts'
import { expect, openAs, test } from './support/test.ts'

/** The customer has two minutes to press Start; then the played machine takes some seconds more. */
const TOLD_MS = 140_000
const DURATION_S = 300

test('a customer who leaves the door open is told, and the countdown begins anew when the machine runs', async ({
  page,
  browser,
}) => {
  test.setTimeout(2 * TOLD_MS)
  const { idoutlet, world } = await openBoard(page, 'rina', {
    services: [{ nama: 'Cuci', durasi: DURATION_S, harga: 8_000 }],
  })
  const machine = { idoutlet, nama: 'Koin 09', driver: 'mqtt', cara: 'pulsa', pulsa: 2 }
  const { id } = await ops<{ id: number }>('mesin', machine)
  const stop = playDevice(id, '--sensor', '--fault', 'slow-start')
  const context = await browser.newContext({ viewport: { width: 390, height: 844 } })
  try {
    await expect.poll(() => machinesNow(idoutlet), { timeout: 60_000 }).toContain('Koin 09 siap')
    const customer = await newCustomer()
    await topUp(customer, idoutlet, 50_000)
    const { answer } = await buy(customer, world, id)
    expect(answer.status, answer.message).toBe(200)
    const phone = await context.newPage()
    await openAs(phone, customer)
    const timer = phone.getByRole('timer')
    await expect(timer).toContainText(/0[45]:\d\d/)
    const note = phone.getByText('Tutup pintunya, lalu tekan Start.')
    await expect(note).toHaveCount(0)

    // The machine has its coins, but its door is open, so it does not run.
    await expect(note).toBeVisible({ timeout: TOLD_MS })
    await expect(timer).toContainText(/0[23]:\d\d/)
    await look(phone, 'mesin-koin-belum-jalan')
    // Now it is shut, and Start was pressed: the whole cycle is before it.
    await expect(timer).toContainText(/0[45]:\d\d/, { timeout: 30_000 })
    await expect(note).toHaveCount(0, { timeout: 30_000 })
    await expect(page.locator('[data-machine]').filter({ hasText: 'Koin 09' })).toContainText(/0[45][:.]\d\d/)
  } finally {
    await context.close()
    await stop()
  }
})

test('a machine that runs without a purchase is shown as one that the app did not start', async ({
  page,
}) => {
  const { idoutlet } = await openBoard(page)
  const { id } = await ops<{ id: number }>('mesin', {
    idoutlet,
    nama: 'Koin 09',
    driver: 'mqtt',
    cara: 'pulsa',
  })
  const stop = playDevice(id, '--sensor', '--fault', 'stuck-sensor')
  try {
    const tile = page.locator('[data-machine]').filter({ hasText: 'Koin 09' })
    await expect(tile).toContainText('Jalan tanpa aplikasi', { timeout: 60_000 })
  } finally {
    await stop()
  }
})
