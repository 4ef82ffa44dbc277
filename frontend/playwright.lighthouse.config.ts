import { defineConfig } from '@playwright/test'
import tests from './playwright.config.ts'

/** `npm run lighthouse`: what Lighthouse, fetched for it, says of the first screens; from the real server. */
export default defineConfig(tests, {
  testMatch: '**/*.lighthouse.ts',
  workers: 1,
  timeout: 600_000,
  reporter: [['line']],
})
