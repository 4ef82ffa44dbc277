import { defineConfig } from '@playwright/test'
import { CHROMIUM, CHROMIUM_ARGS } from './e2e/support/chromium.ts'

export default defineConfig({
  testDir: 'e2e',
  globalSetup: './e2e/support/global-setup.ts',
  outputDir: 'test-results',
  fullyParallel: true,
  workers: process.env.E2E_WORKERS ? Number(process.env.E2E_WORKERS) : 2,
  // On a busy machine one run is told as flaky instead of ending all of them; locally every failure counts at once.
  retries: process.env.CI ? 1 : 0,
  timeout: 60_000,
  expect: { timeout: 10_000 },
  reporter: [['list']],
  use: {
    viewport: { width: 360, height: 780 },
    locale: 'id-ID',
    hasTouch: true,
    trace: 'retain-on-failure',
    launchOptions: { executablePath: CHROMIUM, args: CHROMIUM_ARGS },
  },
})
