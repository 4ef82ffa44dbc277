import { type Browser, type CDPSession, expect, test } from '@playwright/test'
import { newCustomer, newMachine, newWorld, topUp } from '../support/api.ts'
import { buy } from '../support/buy.ts'
import { openAs } from '../support/test.ts'
import { openBarePage } from './bare-page.ts'

/** A phone four times slower than an idle machine; use a lower factor on a busy or slow one. */
const CPU_SLOWDOWN = Number(process.env.CPU_SLOWDOWN ?? 4)
/** Round trip in milliseconds, throughput in bytes per second. */
const NETWORKS = {
  /** 1.6 Mbit/s down, 0.75 up. */
  'slow 4G': { offline: false, latency: 150, downloadThroughput: 200_000, uploadThroughput: 93_750 },
  /** 400 kbit/s, down and up. */
  'slow 3G': { offline: false, latency: 400, downloadThroughput: 50_000, uploadThroughput: 50_000 },
}
type Network = keyof typeof NETWORKS

/** Duration for which the countdown is watched. */
const WATCH_MS = 30_000
const CARDS = 4

/** Milliseconds; CLS has no unit. */
interface Vitals {
  lcp: number
  tbt: number
  cls: number
}

/** The machine's current speed: figures of runs that differ in it do not compare. */
test.beforeEach(async ({ page }) => {
  const took_ms = await page.evaluate(() => {
    const start = performance.now()
    let sum = 0
    for (let i = 0; i < 50_000_000; i++) sum = (sum + i) | 0
    return sum === 1 ? 0 : performance.now() - start
  })
  console.log(`fixed work: ${took_ms.toFixed(0)} ms, then the CPU ${CPU_SLOWDOWN} times slower`)
})

test.use({ baseURL: async ({}, use) => use(process.env.NYALA_URL ?? ''), trace: 'off' })

/** The page is done when it has fetched, moved and computed nothing for this time. */
const QUIET_MS = 1_500

/** Collects the vitals from the first moment of a page. `settled` returns them once the page shows `text` and is done. */
function watchVitals(quiet_ms: number): void {
  const vitals = { lcp: 0, tbt: 0, cls: 0 }
  let last_ms = 0
  const watch = (type: string, take: (entry: PerformanceEntry) => void) =>
    new PerformanceObserver((list) => {
      last_ms = performance.now()
      list.getEntries().forEach(take)
    }).observe({ type, buffered: true })
  watch('resource', () => undefined)
  watch('largest-contentful-paint', (entry) => {
    vitals.lcp = entry.startTime
  })
  watch('longtask', (entry) => {
    vitals.tbt += Math.max(0, entry.duration - 50)
  })
  watch('layout-shift', (entry) => {
    const shift = entry as PerformanceEntry & { value: number; hadRecentInput: boolean }
    if (!shift.hadRecentInput) vitals.cls += shift.value
  })
  const settled = (text: string) =>
    new Promise((done) => {
      const look = setInterval(() => {
        if (performance.now() - last_ms < quiet_ms || !document.body.textContent.match(text)) return
        clearInterval(look)
        done(vitals)
      }, 250)
    })
  Object.assign(window, { settled })
}

/** Measures this address on a weak phone; with a token, as a logged-in customer. */
async function measure(
  browser: Browser,
  network: Network,
  path: string,
  text: RegExp,
  token?: string,
): Promise<Vitals> {
  const page = await openBarePage(browser)
  await page.send('Emulation.setDeviceMetricsOverride', {
    width: 360,
    height: 780,
    deviceScaleFactor: 1,
    mobile: true,
  })
  if (token) {
    await page.goto(`${process.env.NYALA_URL}/favicon.svg`)
    await page.ask(`localStorage.setItem('token', ${JSON.stringify(token)})`)
  }
  await page.send('Page.enable')
  await page.send('Page.addScriptToEvaluateOnNewDocument', { source: `(${watchVitals})(${QUIET_MS})` })
  await page.send('Network.enable')
  await page.send('Network.emulateNetworkConditions', NETWORKS[network])
  await page.send('Emulation.setCPUThrottlingRate', { rate: CPU_SLOWDOWN })
  await page.goto(`${process.env.NYALA_URL}${path}`)
  const vitals = await page.ask<Vitals>(`settled(${JSON.stringify(text.source)})`)
  await page.close()
  return vitals
}

function show(what: string, { lcp, tbt, cls }: Vitals): void {
  console.log(
    `${what.padEnd(24)} LCP ${(lcp / 1000).toFixed(2)} s  TBT ${tbt.toFixed(0)} ms  CLS ${cls.toFixed(4)}`,
  )
}

for (const network of Object.keys(NETWORKS) as Network[]) {
  for (const path of ['/', '/login']) {
    test(`the first visit to ${path}, ${network}`, async ({ browser }) => {
      show(`${network}, ${path}`, await measure(browser, network, path, /Masuk/))
    })
  }

  test(`the dashboard with a running machine, nothing kept, ${network}`, async ({ browser }) => {
    const world = await newWorld([{ nama: 'Cuci Reguler', durasi: 2_100, harga: 15_000 }])
    const customer = await newCustomer('Siti Rahmawati')
    await topUp(customer, world.idoutlet, 100_000)
    await buy(customer, world)
    show(`${network}, /dashboard`, await measure(browser, network, '/dashboard', /\d\d:\d\d/, customer.token))
  })
}

/** Seconds of the main thread since the page's start, by kind. */
async function mainThread(session: CDPSession): Promise<Record<string, number>> {
  const { metrics } = await session.send('Performance.getMetrics')
  return Object.fromEntries(metrics.map(({ name, value }) => [name, value]))
}

test(`${CARDS} countdowns at once`, async ({ page }) => {
  const world = await newWorld([{ nama: 'Cuci Reguler', durasi: 2_100, harga: 1_000 }])
  const customer = await newCustomer('Siti Rahmawati')
  await topUp(customer, world.idoutlet, 100_000)
  await buy(customer, world)
  for (let i = 2; i <= CARDS; i++) {
    await buy(customer, world, (await newMachine(world.idoutlet, `Mesin 0${i}`)).id)
  }
  await openAs(page, customer)
  await expect(page.getByRole('timer')).toHaveCount(CARDS)
  await expect(page.getByRole('timer').filter({ hasText: /\d\d:\d\d/ })).toHaveCount(CARDS)
  await page.waitForLoadState('networkidle')
  const session = await page.context().newCDPSession(page)
  await session.send('Performance.enable', { timeDomain: 'threadTicks' })
  const before = await mainThread(session)
  await page.waitForTimeout(WATCH_MS)
  const after = await mainThread(session)
  const spent = (name: string) => ((after[name] ?? 0) - (before[name] ?? 0)) * 1000
  const kinds = ['TaskDuration', 'ScriptDuration', 'RecalcStyleDuration', 'LayoutDuration']
  const summary = kinds.map((name) => `${name} ${spent(name).toFixed(0)} ms`).join('  ')
  console.log(`${CARDS} countdowns, ${WATCH_MS / 1000} s: ${summary}`)
})
