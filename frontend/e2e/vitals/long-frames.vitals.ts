import { expect, test } from '@playwright/test'
import { newCustomer, newMachine, newWorld, topUp } from '../support/api.ts'
import { buy } from '../support/buy.ts'
import { openAs } from '../support/test.ts'

/** A CPU weaker than that of any phone still sold. */
const CPU_SLOWDOWN = Number(process.env.CPU_SLOWDOWN ?? 6)

test.use({ baseURL: async ({}, use) => use(process.env.NYALA_URL ?? ''), trace: 'off' })

/** Frames that took longer than 50 ms during an interaction, as the browser itself counts them. */
test('frames while something moves', async ({ page }) => {
  const world = await newWorld([{ nama: 'Cuci Reguler', durasi: 2_100, harga: 15_000 }])
  const customer = await newCustomer('Siti Rahmawati')
  await topUp(customer, world.idoutlet, 100_000)
  await buy(customer, world)
  const { kode } = await newMachine(world.idoutlet, 'Mesin 08')
  await openAs(page, customer)
  await expect(page.getByRole('timer').filter({ hasText: /\d\d:\d\d/ })).toBeVisible()
  await page.waitForLoadState('networkidle')
  const session = await page.context().newCDPSession(page)
  await session.send('Emulation.setCPUThrottlingRate', { rate: CPU_SLOWDOWN })
  await page.evaluate(() => {
    const frames: number[] = []
    Object.assign(window, { frames })
    new PerformanceObserver((list) => {
      for (const { duration } of list.getEntries()) frames.push(Math.round(duration))
    }).observe({ type: 'long-animation-frame' })
  })
  const long = async (what: string) => {
    const frames = await page.evaluate(() => (window as unknown as { frames: number[] }).frames.splice(0))
    const longest = Math.max(0, ...frames)
    console.log(`${what.padEnd(28)} ${frames.length} long frames, the longest ${longest} ms`)
  }

  await page.waitForTimeout(10_000)
  await long('a countdown, 10 s')
  for (let i = 0; i < 3; i++) {
    await page.getByRole('button', { name: /Info outlet/ }).click()
    await page.getByRole('button', { name: 'Tutup' }).click()
    await expect(page.getByRole('dialog')).toHaveCount(0)
  }
  await page.waitForTimeout(500)
  await long('a sheet, three times')
  await page.getByRole('link', { name: 'Riwayat' }).click()
  await expect(page.getByRole('main').getByRole('listitem').first()).toBeVisible()
  await page.getByRole('link', { name: 'Beranda' }).click()
  await expect(page.getByRole('timer')).toBeVisible()
  await page.waitForTimeout(500)
  await long('to the history and back')
  await page.getByRole('link', { name: 'Scan mesin' }).click()
  await page.getByRole('button', { name: /Ketik kode/ }).click()
  await page.getByLabel('Kode mesin', { exact: true }).fill(kode)
  await page.getByRole('button', { name: 'Cari mesin' }).click()
  await page.getByRole('button', { name: /Cuci Reguler/ }).click()
  await page.getByRole('button', { name: new RegExp(world.outlet) }).click()
  await expect(page.getByText(/^SLF\d{15}$/)).toBeVisible()
  await page.waitForTimeout(2_000)
  await long('from the scan to the receipt')
  await page.getByRole('button', { name: 'Bayar & Nyalakan Mesin' }).click()
  await expect(page.getByRole('timer')).toHaveCount(2)
  await page.waitForTimeout(4_000)
  await long('paid, and on the dashboard')
})
