import { fileURLToPath } from 'node:url'
import react from '@vitejs/plugin-react'
import { defineConfig } from 'vite'
import { alias, build, fileNames } from './vite.common.ts'

// Preact stands in React's place in all that the till is made of (docs/decisions/0032-the-till-runs-on-preact.md).
const preact = {
  'react/jsx-runtime': 'preact/jsx-runtime',
  'react/jsx-dev-runtime': 'preact/jsx-dev-runtime',
  'react-dom/client': 'preact/compat/client',
  'react-dom': 'preact/compat',
  react: 'preact/compat',
}

/** The till (docs/till.md): a build of its own, so that nothing of it weighs on the customers' app. */
export default defineConfig({
  root: fileURLToPath(new URL('./kasir', import.meta.url)),
  base: '/kasir/',
  // A component that changes is loaded with its page: what swaps it in place knows React alone.
  plugins: [react({ exclude: /./ })],
  resolve: { alias: { ...alias, ...preact } },
  // Not beside the dependencies of the customers' app, whose development server runs at the same time.
  cacheDir: fileURLToPath(new URL('./node_modules/.vite-kasir', import.meta.url)),
  build: {
    ...build,
    outDir: fileURLToPath(new URL('./dist/kasir', import.meta.url)),
    emptyOutDir: true,
    rolldownOptions: { output: fileNames },
  },
  server: { fs: { allow: [fileURLToPath(new URL('.', import.meta.url))] } },
})
