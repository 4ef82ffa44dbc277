import { availableParallelism } from 'node:os'
import { defineConfig } from '@playwright/test'
import { CHROMIUM, CHROMIUM_ARGS } from './e2e/support/chromium.ts'

export default defineConfig({
  testDir: 'e2e',
  globalSetup: './e2e/support/global-setup.ts',
  outputDir: 'test-results',
  fullyParallel: true,
  // A test waits for deadlines, countdowns and machines for about half of its time.
  workers: process.env.E2E_WORKERS
    ? Number(process.env.E2E_WORKERS)
    : Math.min(2 * availableParallelism(), 8),
  // A flaky test has a fault, in itself or in the app, so nothing is retried.
  retries: 0,
  // Generous: a wait ends with its event, and a busy machine is not a fault of the app.
  timeout: 120_000,
  expect: { timeout: 20_000 },
  reporter: [['list']],
  use: {
    viewport: { width: 360, height: 780 },
    locale: 'id-ID',
    hasTouch: true,
    // Drawing motion takes a core. The tests of motion, and some whole walks through the app, turn it on.
    contextOptions: { reducedMotion: 'reduce' },
    // TRACE=1 keeps a trace of each failure. It costs a tenth of the time, so it is off without being asked for.
    trace: process.env.TRACE ? { mode: 'retain-on-failure', screenshots: false } : 'off',
    screenshot: 'only-on-failure',
    launchOptions: { executablePath: CHROMIUM, args: CHROMIUM_ARGS },
  },
})
