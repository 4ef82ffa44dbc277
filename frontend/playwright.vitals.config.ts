import { defineConfig } from '@playwright/test'
import tests from './playwright.config.ts'

/** `npm run vitals`: figures for a weak phone on a weak network, with the real server. */
export default defineConfig(tests, {
  testMatch: '**/*.vitals.ts',
  workers: 1,
  timeout: 180_000,
  reporter: [['line']],
})
