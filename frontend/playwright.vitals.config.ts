import { defineConfig } from '@playwright/test'
import tests from './playwright.config.ts'

/** `npm run vitals`: what a weak phone on a weak network feels, as figures; from the real server. */
export default defineConfig(tests, {
  testMatch: '**/*.vitals.ts',
  workers: 1,
  timeout: 180_000,
  reporter: [['line']],
})
