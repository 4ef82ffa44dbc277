import { fileURLToPath } from 'node:url'
import { defineConfig } from 'vite'
import { build } from './vite.common.ts'

/** The till's service worker: one file with a fixed name, beside the till's build, which must come first. */
export default defineConfig({
  publicDir: false,
  build: {
    ...build,
    manifest: false,
    outDir: fileURLToPath(new URL('./dist/kasir', import.meta.url)),
    emptyOutDir: false,
    rolldownOptions: {
      input: fileURLToPath(new URL('./src/service-worker/till-sw.ts', import.meta.url)),
      output: { format: 'iife', entryFileNames: 'sw.js' },
    },
  },
})
