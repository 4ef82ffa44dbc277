import { fileURLToPath } from 'node:url'
import react from '@vitejs/plugin-react'
import { defineConfig } from 'vite'
import { VitePWA } from 'vite-plugin-pwa'
import { manifest } from './src/service-worker/manifest.ts'

/** Where `npm run dev` finds the server; the built app is served by the server itself. */
const server = process.env.NYALA_URL ?? 'http://127.0.0.1:8080'

/** What several screens share is named after all of them: too long for an address. */
function shortName(name: string): string {
  return name.replace(/~.*/, '').replace(/\.\w+$/, '')
}

export default defineConfig({
  plugins: [
    react(),
    VitePWA({
      strategies: 'injectManifest',
      srcDir: 'src/service-worker',
      filename: 'sw.ts',
      // The app registers it itself, after login and when idle (app/update.ts).
      injectRegister: false,
      manifest,
      injectManifest: { globPatterns: ['index.html', 'assets/*.{js,css,woff2}'] },
    }),
  ],
  resolve: { alias: { '@': fileURLToPath(new URL('./src', import.meta.url)) } },
  build: {
    target: ['chrome87', 'safari15', 'firefox100'],
    // The Content-Security-Policy has no font-src or connect-src for data: URLs, so nothing is inlined.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    manifest: true,
    rolldownOptions: {
      output: {
        chunkFileNames: ({ name }) => `assets/${shortName(name)}-[hash].js`,
        assetFileNames: ({ names }) => `assets/${shortName(names[0] ?? '')}-[hash][extname]`,
        // Few files: on a weak network each one more costs a round trip.
        codeSplitting: {
          groups: [
            { name: 'start', tags: ['$initial'], priority: 3 },
            // The query library whole: spread over files that import each other, a class may be extended before it is there.
            { name: 'home', test: /src[\\/]app[\\/]home\.ts$|node_modules[\\/]@tanstack/, priority: 2 },
            {
              name: 'shared',
              priority: 1,
              minShareCount: 2,
              entriesAware: true,
              entriesAwareMergeThreshold: 12_000,
            },
          ],
        },
      },
    },
  },
  server: {
    host: '127.0.0.1',
    proxy: {
      '/scan': server,
      '/dev': server,
      '/ops': server,
      '/socket.io': { target: server, ws: true },
    },
  },
})
