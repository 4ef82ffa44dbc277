import { defineConfig } from '@playwright/test'
import tests from './playwright.config.ts'

/** `npm run screenshots`: saves every screen in each state and theme as a picture into docs/screens, then all of them on two sheets. */
export default defineConfig(tests, {
  workers: 1,
  timeout: 30_000,
  use: { trace: 'off' },
  projects: [
    { name: 'pictures', testMatch: '**/*.shot.ts' },
    { name: 'sheets', testMatch: '**/*.sheet.ts', dependencies: ['pictures'] },
  ],
})
