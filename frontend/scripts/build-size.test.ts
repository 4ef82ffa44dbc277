import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { afterEach, beforeEach, expect, it } from 'vitest'
import {
  dashboardAdds,
  decoder,
  firstVisit,
  fonts,
  pageAdds,
  pageStyles,
  readBuild,
  scanAdds,
  startScripts,
  styles,
  tillAdds,
  tillStyles,
} from './build-size.mjs'

let dist: string
const weight = (text: string) => text.length
const put = (file: string, text: string) => {
  mkdirSync(dirname(join(dist, file)), { recursive: true })
  writeFileSync(join(dist, file), text)
}

const chunks = {
  'index.html': { file: 'assets/index.js', css: ['assets/index.css'], imports: ['_runtime.js'] },
  '_runtime.js': { file: 'assets/runtime.js' },
  '_shared.js': { file: 'assets/shared.js', imports: ['index.html'] },
  '_home.js': {
    file: 'assets/home.js',
    name: 'home',
    imports: ['_shared.js'],
    dynamicImports: ['node_modules/socket.io-client/i.js'],
  },
  'src/features/purchase/scan/scan-page.tsx': {
    file: 'assets/scan.js',
    imports: ['_shared.js'],
    dynamicImports: ['node_modules/barcode-detector/ponyfill.js'],
  },
  '../src/till/features/kelola/kelola-page.tsx': {
    file: 'assets/kelola-page-1.js',
    css: ['assets/kelola-page-1.css'],
    imports: ['_shared.js'],
  },
  '../src/till/features/mesin/mesin-page.tsx': {
    file: 'assets/mesin-page-1.js',
    css: ['assets/index.css', 'assets/mesin-page-1.css'],
    imports: ['index.html'],
  },
  '../src/till/features/perhatian/perhatian-page.tsx': {
    file: 'assets/perhatian-page-1.js',
    imports: ['_attention-entry.js'],
  },
  '../src/till/features/pemberitahuan/pemberitahuan-page.tsx': {
    file: 'assets/pemberitahuan-page-1.js',
    css: ['assets/pemberitahuan-page-1.css'],
  },
  '../src/till/features/ringkasan/ringkasan-page.tsx': {
    file: 'assets/ringkasan-page-1.js',
    css: ['assets/ringkasan-page-1.css'],
  },
  '../src/till/features/till/parts/parts.tsx': { file: 'assets/parts-1.js' },
  '_attention-entry.js': { file: 'assets/attention-entry-1.js' },
  'node_modules/socket.io-client/i.js': { file: 'assets/socket.js' },
  'node_modules/barcode-detector/ponyfill.js': { file: 'assets/ponyfill.js' },
}

beforeEach(() => {
  dist = mkdtempSync(join(tmpdir(), 'budget-'))
  put('.vite/manifest.json', JSON.stringify(chunks))
  for (const { file } of Object.values(chunks)) put(file, `content of ${file}`)
  put('assets/index.css', 'a{}')
  put('assets/scan.css', 'b{}')
  put('assets/kelola-page-1.css', 'cc{}')
  put('assets/mesin-page-1.css', 'c{}...')
  put('assets/attention-entry-1.css', 'd')
  put('assets/ringkasan-page-1.css', 'e')
  put('assets/pemberitahuan-page-1.css', 'f')
  put('assets/parts-1.css', 'g')
  put('assets/font.woff2', 'font')
  put('icons/apple-touch-icon.png', 'picture')
  put(
    'index.html',
    '<link href="/icons/apple-touch-icon.png"><link href="/assets/font.woff2"><script src="/assets/index.js">',
  )
})
afterEach(() => rmSync(dist, { recursive: true }))

const sum = (...names: string[]) =>
  names.reduce((total, name) => total + weight(`content of assets/${name}.js`), 0)

it('counts each file once, where it is first needed', () => {
  const build = readBuild(dist)
  expect(startScripts(build)).toBe(sum('index', 'runtime'))
  expect(dashboardAdds(build)).toBe(sum('home', 'shared', 'socket'))
  expect(scanAdds(build)).toBe(sum('scan'))
  expect(decoder(build)).toBe(sum('ponyfill'))
  expect(tillAdds(build)).toBe(sum('shared', 'home', 'scan', 'socket'))
  expect(pageAdds(build, 'board')).toBe(sum('mesin-page-1'))
  expect(pageStyles(build, 'board')).toBe(weight('c{}...'))
  expect(pageAdds(build, 'attention')).toBe(sum('perhatian-page-1', 'attention-entry-1'))
  expect(pageStyles(build, 'attention')).toBe(weight('d'))
  expect(pageAdds(build, 'money')).toBe(sum('parts-1'))
  expect(pageAdds(build, 'management')).toBe(sum('kelola-page-1'))
  expect(pageStyles(build, 'management')).toBe(weight('cc{}'))
  expect(styles(build)).toBe(
    weight('a{}') +
      weight('b{}') +
      weight('cc{}') +
      weight('c{}...') +
      weight('d') +
      weight('e') +
      weight('f') +
      weight('g'),
  )
  expect(tillStyles(build)).toBe(weight('a{}') + weight('b{}'))
  expect(fonts(build)).toEqual([4])
})

it('counts a first visit: the page, its script and what that imports, style, font', () => {
  expect(firstVisit(readBuild(dist)).requests).toBe(5)
})

it('weighs the compressed form where the build has one', () => {
  put('assets/scan.js.gz', 'packed')
  put('assets/scan.js.br', 'less')
  expect(scanAdds(readBuild(dist))).toBe('packed'.length)
})

it('says which screen it did not find', () => {
  put('.vite/manifest.json', JSON.stringify({ 'index.html': chunks['_runtime.js'] }))
  expect(() => dashboardAdds(readBuild(dist))).toThrow(/no chunk home/)
})
