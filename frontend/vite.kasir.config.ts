import { fileURLToPath } from 'node:url'
import react from '@vitejs/plugin-react'
import { defineConfig } from 'vite'
import { alias, build, fileNames } from './vite.common.ts'

/** The till (docs/till.md): a separate build, so that it adds nothing to the customers' app. */
export default defineConfig({
  root: fileURLToPath(new URL('./kasir', import.meta.url)),
  base: '/kasir/',
  plugins: [react()],
  resolve: { alias },
  // A separate cache: the development server of the customers' app runs at the same time.
  cacheDir: fileURLToPath(new URL('./node_modules/.vite-kasir', import.meta.url)),
  build: {
    ...build,
    outDir: fileURLToPath(new URL('./dist/kasir', import.meta.url)),
    emptyOutDir: true,
    rolldownOptions: {
      output: {
        ...fileNames,
        // What the till loads at first in one file: two compress worse than one.
        codeSplitting: { groups: [{ name: 'start', tags: ['$initial'] }] },
      },
    },
  },
  server: { fs: { allow: [fileURLToPath(new URL('.', import.meta.url))] } },
})
