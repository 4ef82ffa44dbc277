import { defineConfig } from '@playwright/test'
import tests from './playwright.config.ts'

/** `npm run screenshots`: the main screens as pictures into docs/screens, from the real server. */
export default defineConfig(tests, {
  testMatch: '**/*.shot.ts',
  workers: 1,
  timeout: 180_000,
  use: { deviceScaleFactor: 2 },
})
