import { fileURLToPath } from 'node:url'
import type { BuildOptions } from 'vite'

/** What the customers' app and the till have in common: each is a build of its own. */
export const alias = { '@': fileURLToPath(new URL('./src', import.meta.url)) }

/** What several screens share is named after all of them: too long for an address. */
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
