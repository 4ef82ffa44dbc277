import { fileURLToPath } from 'node:url'
import react from '@vitejs/plugin-react'
import { createServer, defineConfig, type Plugin } from 'vite'
import { VitePWA } from 'vite-plugin-pwa'
import { manifest } from './src/service-worker/manifest.ts'
import { alias, build, fileNames } from './vite.common.ts'

/** The server's address for `npm run dev`; the server itself serves the built app. */
const target = process.env.NYALA_URL ?? 'http://127.0.0.1:8080'
/** `Host` stays as the browser sent it: the server refuses changes from pages of another site. */
const server = { target, changeOrigin: false }

const EARLY = 'early'

/** Gives `early.ts` a separate script tag, so that it runs without waiting for the app, which imports it too. */
function earlyScript(): Plugin {
  return {
    name: 'early-script',
    apply: 'build',
    transformIndexHtml: {
      order: 'post',
      handler(_page, { bundle = {} }) {
        const early = Object.values(bundle).find((file) => file.type === 'chunk' && file.name === EARLY)
        if (!early) throw new Error('the build has no chunk for early.ts')
        const attrs = { type: 'module', async: true, crossorigin: true, src: `/${early.fileName}` }
        return [{ tag: 'script', attrs, injectTo: 'head-prepend' }]
      },
    },
  }
}

/** In development the till has the same address as the app: this plugin forwards to a separate server. */
function tillServer(): Plugin {
  return {
    name: 'till-server',
    apply: 'serve',
    async configureServer({ httpServer, middlewares }) {
      // The unit tests open no port.
      if (!httpServer) return
      const till = await createServer({
        configFile: fileURLToPath(new URL('./vite.kasir.config.ts', import.meta.url)),
        server: { middlewareMode: true, hmr: { server: httpServer } },
      })
      httpServer.once('close', () => void till.close())
      middlewares.use((req, res, next) => {
        if (/^\/kasir(\/|$|\?)/.test(req.url ?? '')) till.middlewares(req, res, next)
        else next()
      })
    },
  }
}

export default defineConfig({
  plugins: [
    react(),
    earlyScript(),
    tillServer(),
    VitePWA({
      strategies: 'injectManifest',
      srcDir: 'src/service-worker',
      filename: 'sw.ts',
      // The app registers it itself, after login and when idle (app/start-service-worker.ts).
      injectRegister: false,
      manifest,
      injectManifest: { globPatterns: ['index.html', 'assets/*.{js,css,woff2}'] },
    }),
  ],
  resolve: { alias },
  build: {
    ...build,
    rolldownOptions: {
      output: {
        ...fileNames,
        // Few files: on a weak network each file costs a round trip.
        codeSplitting: {
          groups: [
            { name: EARLY, test: /src[\\/]early\.ts$/, priority: 4 },
            { name: 'start', tags: ['$initial'], priority: 3 },
            // A few bytes that the scanner shares with the code steps; otherwise it would fetch their whole chunk.
            { name: 'start', test: /shared[\\/]lib[\\/]digits\.ts$/, priority: 3 },
            // The query library in one chunk: in files that import each other, a class may be extended before it is defined.
            { name: 'home', test: /src[\\/]app[\\/]home\.ts$|node_modules[\\/]@tanstack/, priority: 2 },
            // The style sheets of the screens beside the chunk as one: they are similar, and together compress to half of their separate
            // sizes.
            { name: 'screens', test: /features[\\/](?!auth|home).*\.module\.css$/, priority: 2 },
            {
              name: 'shared',
              priority: 1,
              minShareCount: 2,
              entriesAware: true,
              entriesAwareMergeThreshold: 16_000,
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
      '/socket.io': { ...server, ws: true },
    },
  },
})
