import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'

const START = 'index.html'
/** The chunk with the dashboard and its surrounding screen (vite.config.ts), and what it loads at once. */
const DASHBOARD = 'home'
const REALTIME = 'socket.io-client'
const SCAN = 'src/features/purchase/scan/scan-page.tsx'
/** The till's pages with budgets of their own, by the names of their chunks: most people at a till never open all of them. */
const PAGES = {
  board: ['mesin-page'],
  attention: ['perhatian-page', 'attention-entry', 'event-list'],
  money: ['parts', 'bill-calls'],
  management: ['kelola-page'],
  morning: ['ringkasan-page'],
  alerts: ['pemberitahuan-page', 'push'],
}

/** A build: its folder, and by source file what each chunk is and imports (Vite's manifest). */
export function readBuild(dist) {
  return { dist, chunks: JSON.parse(readFileSync(join(dist, '.vite/manifest.json'), 'utf8')) }
}

/**
 * Transferred bytes of a file: its gzip size, the larger of the two compressed forms in the build, or its plain size where it has none.
 */
function weight({ dist }, file) {
  const plain = join(dist, file)
  const packed = `${plain}.gz`
  return statSync(existsSync(packed) ? packed : plain).size
}

/** The chunks that must be loaded before these entries run: the entries and all their static imports. */
function closure({ chunks }, entries) {
  const found = new Set()
  const visit = (key) => {
    const chunk = chunks[key]
    if (!chunk) throw new Error(`budgets: the build has no ${key}; was a file renamed?`)
    if (found.has(key)) return
    found.add(key)
    for (const next of chunk.imports ?? []) visit(next)
  }
  for (const key of entries) visit(key)
  return found
}

const scripts = (build, keys) =>
  [...keys].reduce((sum, key) => sum + weight(build, build.chunks[key].file), 0)

const without = (keys, known) => [...keys].filter((key) => !known.has(key))

/** The key of a chunk that several entries share. */
function shared({ chunks }, name) {
  const key = Object.keys(chunks).find((path) => chunks[path].name === name)
  if (!key) throw new Error(`budgets: the build has no chunk ${name}; was it renamed?`)
  return key
}

/** The key of a library that is imported late, in any folder. */
function lateLibrary({ chunks }, name) {
  const key = Object.keys(chunks).find((path) => path.includes(`node_modules/${name}/`))
  if (!key) throw new Error(`budgets: ${name} is no chunk of its own; is it imported at once?`)
  return key
}

const upToDashboard = (build) =>
  closure(build, [START, shared(build, DASHBOARD), lateLibrary(build, REALTIME)])

/** Bytes of JavaScript that `/` and `/login` load. Both are part of the start. */
export function startScripts(build) {
  return scripts(build, closure(build, [START]))
}

/** Bytes of JavaScript the dashboard loads on top, the realtime client included. */
export function dashboardAdds(build) {
  return scripts(build, without(upToDashboard(build), closure(build, [START])))
}

/** Bytes of JavaScript the scanner loads on top where the browser reads codes itself. */
export function scanAdds(build) {
  return scripts(build, without(closure(build, [SCAN]), upToDashboard(build)))
}

/** Bytes of JavaScript the till fetches once it is shown, without the decoder and without the pages that have budgets of their own. */
export function tillAdds(build) {
  const pages = Object.keys(PAGES).reduce((sum, page) => sum + pageAdds(build, page), 0)
  return ofAll(build, '.js') - startScripts(build) - decoder(build) - pages
}

/** Bytes of the till's style sheets, without those of the pages that have budgets of their own. */
export function tillStyles(build) {
  return styles(build) - Object.keys(PAGES).reduce((sum, page) => sum + pageStyles(build, page), 0)
}

/** Bytes of JavaScript of a page alone, without what it shares with others. */
export const pageAdds = (build, page) => ofPage(build, page, '.js')

/** Bytes of the style sheets of a page alone. */
export const pageStyles = (build, page) => ofPage(build, page, '.css')

function ofPage(build, page, ending) {
  const names = PAGES[page].map((name) => `assets/${name}-`)
  const files = assets(build, ending).filter((file) => names.some((name) => file.startsWith(name)))
  if (files.length === 0) throw new Error(`budgets: the build has no ${ending} of ${page}; was it renamed?`)
  return files.reduce((sum, file) => sum + weight(build, file), 0)
}

/** Bytes of JavaScript around the WebAssembly that reads codes. */
export function decoder(build) {
  const { file } = build.chunks[lateLibrary(build, 'barcode-detector')]
  return weight(build, file)
}

const assets = ({ dist }, ending) =>
  readdirSync(join(dist, 'assets'))
    .filter((file) => file.endsWith(ending))
    .map((file) => `assets/${file}`)

const ofAll = (build, ending) => assets(build, ending).reduce((sum, file) => sum + weight(build, file), 0)

/** Bytes of all style sheets. */
export const styles = (build) => ofAll(build, '.css')

/** Bytes of each font file. */
export function fonts(build) {
  return assets(build, '.woff2').map((file) => weight(build, file))
}

/** The files that a browser requests at `/` until the network is idle: the page, the files it names, and their imports. */
export function firstVisit(build) {
  const page = readFileSync(join(build.dist, START), 'utf8')
  const named = [...page.matchAll(/(?:href|src)="\/([^"]+)"/g)].map(([, file]) => file)
  const chunks = [...closure(build, [START])].map((key) => build.chunks[key])
  const files = new Set([START, ...named, ...chunks.flatMap(({ file, css }) => [file, ...(css ?? [])])])
  // Only a phone that adds the app to its home screen fetches that picture.
  files.delete('icons/apple-touch-icon.png')
  return { bytes: [...files].reduce((sum, file) => sum + weight(build, file), 0), requests: files.size }
}
