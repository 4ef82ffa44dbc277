import { defineConfig } from '@playwright/test'
import tests from './playwright.config.ts'

/** `npm run lighthouse`: Lighthouse's scores for the first screens of the real server; the run fetches Lighthouse. */
export default defineConfig(tests, {
  testMatch: '**/*.lighthouse.ts',
  workers: 1,
  timeout: 600_000,
  reporter: [['line']],
})
