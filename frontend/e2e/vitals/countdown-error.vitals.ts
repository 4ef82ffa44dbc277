import { expect, type Page, test } from '@playwright/test'
import { newCustomer, newWorld, scan, topUp } from '../support/api.ts'
import { buy } from '../support/buy.ts'
import { openAs } from '../support/test.ts'

/** Duration for which each countdown is watched. */
const WATCH_MS = 60_000
const CPU_SLOWDOWNS = [1, 6]
/** Number of requests: the quickest answer gives the best estimate of the server's clock. */
const LOOKS_AT_CLOCK = 20

test.use({ baseURL: async ({}, use) => use(process.env.NYALA_URL ?? ''), trace: 'off' })

interface Run {
  ends_at: number
  server_time: number
}

/** The cycle, and how far the server's clock is ahead of this machine's, which is also the browser's. */
async function ask(token: string): Promise<{ ends_at: number; ahead_ms: number }> {
  let best = { ends_at: 0, ahead_ms: 0, took_ms: Number.POSITIVE_INFINITY }
  for (let i = 0; i < LOOKS_AT_CLOCK; i++) {
    const sent_ms = Date.now()
    const { data } = await scan<{ list_snap_transaksi: Run[] }>('dashboard/get_dashboard', undefined, token)
    const back_ms = Date.now()
    const [run] = data.list_snap_transaksi
    const took_ms = back_ms - sent_ms
    if (!run || took_ms >= best.took_ms) continue
    best = { ends_at: run.ends_at, ahead_ms: run.server_time - (sent_ms + back_ms) / 2, took_ms }
  }
  return best
}

/** Each second that the page shows, with the time of the frame that draws it, epoch ms. */
const changes = (page: Page): Promise<[text: string, at_ms: number][]> =>
  page.getByRole('timer').evaluate(async (timer, watch_ms) => {
    const seen: [string, number][] = []
    const observer = new MutationObserver(() => {
      const text = timer.textContent ?? ''
      requestAnimationFrame(() => seen.push([text, Date.now()]))
    })
    observer.observe(timer, { characterData: true, childList: true, subtree: true })
    await new Promise((over) => setTimeout(over, watch_ms))
    observer.disconnect()
    return seen
  }, WATCH_MS)

function seconds(text: string): number {
  const [, minutes, rest] = /(\d+):(\d\d)$/.exec(text) ?? []
  return Number(minutes) * 60 + Number(rest)
}

/** A shown second is right from the moment when that many seconds are left by the server's clock. */
for (const rate of CPU_SLOWDOWNS) {
  test(`how late a second is shown, CPU ${rate}×`, async ({ page }) => {
    const world = await newWorld([{ nama: 'Cuci Reguler', durasi: 2_100, harga: 15_000 }])
    const customer = await newCustomer('Siti Rahmawati')
    await topUp(customer, world.idoutlet, 100_000)
    await buy(customer, world)
    await openAs(page, customer)
    await expect(page.getByRole('timer')).toContainText(/\d\d:\d\d/)
    await page.waitForLoadState('networkidle')
    const session = await page.context().newCDPSession(page)
    await session.send('Emulation.setCPUThrottlingRate', { rate })

    const before = await ask(customer.token)
    const seen = await changes(page)
    const after = await ask(customer.token)
    const ahead_ms = (before.ahead_ms + after.ahead_ms) / 2
    const late = seen
      .map(([text, at_ms]) => at_ms + ahead_ms - (after.ends_at - seconds(text) * 1_000))
      .sort((a, b) => a - b)
    expect(late.length).toBeGreaterThan(WATCH_MS / 2_000)
    const part = (share: number) => (late[Math.ceil(share * late.length) - 1] ?? Number.NaN).toFixed(0)
    console.log(
      `countdown, CPU ${rate}×: ${late.length} seconds, late by p50 ${part(0.5)} ms  p99 ${part(0.99)} ms  max ${part(1)} ms  (least ${late[0]?.toFixed(0)} ms)`,
    )
  })
}
