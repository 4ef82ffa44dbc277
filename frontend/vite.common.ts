import { fileURLToPath } from 'node:url'
import type { BuildOptions } from 'vite'

/** Settings that the customers' app and the till share; each is a separate build. */
export const alias = { '@': fileURLToPath(new URL('./src', import.meta.url)) }

/** A chunk shared by several screens is named after all of them, which is too long for an address. */
function shortName(name: string): string {
  return name.replace(/~.*/, '').replace(/\.\w+$/, '')
}

export const build = {
  target: ['chrome87', 'safari15', 'firefox100'],
  // The Content-Security-Policy has no font-src or connect-src for data: URLs, so nothing is inlined.
  assetsInlineLimit: 0,
  modulePreload: { polyfill: false },
  manifest: true,
} satisfies BuildOptions

export const fileNames = {
  chunkFileNames: ({ name }: { name: string }) => `assets/${shortName(name)}-[hash].js`,
  assetFileNames: ({ names }: { names: string[] }) => `assets/${shortName(names[0] ?? '')}-[hash][extname]`,
}
