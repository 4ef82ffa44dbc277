import { execFile } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { chromium, expect, test } from '@playwright/test'
import { newCustomer, newWorld, topUp } from '../support/api.ts'
import { buy } from '../support/buy.ts'
import { CHROMIUM, CHROMIUM_ARGS } from '../support/chromium.ts'

/** The app and its tests do not depend on it, so it is not among their packages. */
const LIGHTHOUSE = 'lighthouse@13.5.0'
const CATEGORIES = ['performance', 'accessibility', 'best-practices'] as const
const FIGURES = [
  'first-contentful-paint',
  'largest-contentful-paint',
  'total-blocking-time',
  'cumulative-layout-shift',
  'speed-index',
] as const

/** Number of runs: on a machine that does other work, the median run says most. */
const RUNS = Number(process.env.RUNS ?? 3)

/** Storage that a returning browser would not fetch again. */
const KEPT = 'service_workers,cache_storage'

interface Audit {
  title: string
  score: number | null
  displayValue?: string
}

interface Report {
  categories: Record<
    (typeof CATEGORIES)[number],
    { score: number; auditRefs: { id: string; weight: number }[] }
  >
  audits: Record<string, Audit>
  finalDisplayedUrl: string
  environment: { benchmarkIndex: number }
}

test.use({ trace: 'off' })

async function run(url: string, port: string, file: string): Promise<Report> {
  const more = ['--disable-storage-reset', '--output=json', `--output-path=${file}`, '--quiet']
  const only = `--only-categories=${CATEGORIES.join(',')}`
  await promisify(execFile)('npx', ['--yes', LIGHTHOUSE, url, `--port=${port}`, only, ...more])
  return JSON.parse(readFileSync(file, 'utf8')) as Report
}

const of = (report: Report, category: (typeof CATEGORIES)[number]) => report.categories[category]
const points = (score: number) => Math.round(score * 100)

function print(path: string, report: Report): void {
  const scores = CATEGORIES.map((category) => `${category} ${points(of(report, category).score)}`)
  const figures = FIGURES.map((id) => `${id} ${report.audits[id]?.displayValue}`)
  console.log(`${path.padEnd(11)} ${scores.join('  ')}  (machine ${report.environment.benchmarkIndex})`)
  console.log(`            ${figures.join('  ')}`)
  for (const category of CATEGORIES) {
    for (const { id, weight } of of(report, category).auditRefs) {
      const { score = null, title, displayValue = '' } = report.audits[id] ?? { title: id }
      if (weight > 0 && score !== null && score < 0.9) {
        console.log(`            ${points(score)} ${category}: ${title} ${displayValue}`)
      }
    }
  }
}

test('the first screens', async () => {
  const world = await newWorld([{ nama: 'Cuci Reguler', durasi: 2_100, harga: 15_000 }])
  const customer = await newCustomer('Siti Rahmawati')
  await topUp(customer, world.idoutlet, 100_000)
  await buy(customer, world)

  // A separate profile with a debugging port for Lighthouse, which opens its page beside the logged-in one.
  const profile = test.info().outputPath('profile')
  const browser = await chromium.launchPersistentContext(profile, {
    executablePath: CHROMIUM,
    args: [...CHROMIUM_ARGS, '--remote-debugging-port=0'],
  })
  try {
    const [port = ''] = readFileSync(join(profile, 'DevToolsActivePort'), 'utf8').split('\n')
    const url = process.env.NYALA_URL ?? ''
    const [page] = browser.pages()
    const session = page && (await browser.newCDPSession(page))
    for (const path of ['/', '/login', '/dashboard']) {
      const token = path === '/dashboard' ? customer.token : ''
      const reports: Report[] = []
      for (let i = 0; i < RUNS; i++) {
        await page?.goto(`${url}/favicon.svg`)
        await page?.evaluate((value) => localStorage.setItem('token', value), token)
        // Lighthouse would clear the login together with the cache.
        await session?.send('Network.clearBrowserCache')
        await session?.send('Storage.clearDataForOrigin', { origin: url, storageTypes: KEPT })
        const report = await run(`${url}${path}`, port, test.info().outputPath(`${i}.json`))
        expect(report.finalDisplayedUrl).toBe(`${url}${path}`)
        reports.push(report)
      }
      reports.sort((a, b) => of(a, 'performance').score - of(b, 'performance').score)
      const middle = reports[Math.floor(reports.length / 2)]
      if (middle) print(path, middle)
    }
  } finally {
    await browser.close()
  }
})
