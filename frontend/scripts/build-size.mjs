import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'

const START = 'index.html'
/** The chunk with the dashboard and its surrounding screen (vite.config.ts), and what it loads at once. */
const DASHBOARD = 'home'
const REALTIME = 'socket.io-client'
const SCAN = 'src/features/purchase/scan/scan-page.tsx'
/** The till's board. Keys of the till's build are relative to its folder. */
const BOARD = '../src/till/features/mesin/mesin-page.tsx'
/** The till's management, which only those who manage load. */
const MANAGE = '../src/till/features/kelola/kelola-page.tsx'

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

/**
 * Bytes of JavaScript the till fetches once it is shown, without the decoder, which only some browsers need, and without the board and the
 * management, which have budgets of their own.
 */
export function tillAdds(build) {
  const all = assets(build, '.js').reduce((sum, file) => sum + weight(build, file), 0)
  return all - startScripts(build) - decoder(build) - boardAdds(build) - managementAdds(build)
}

/** Bytes of JavaScript of the till's board alone. */
export function boardAdds(build) {
  return weight(build, build.chunks[BOARD].file)
}

/** Bytes of the style sheet of the till's board alone, without those that it shares. */
export function boardStyles(build) {
  const own = build.chunks[BOARD].css.filter((file) => file.includes('mesin-page'))
  return own.reduce((sum, file) => sum + weight(build, file), 0)
}

/** Bytes of JavaScript of the till's management alone. */
export function managementAdds(build) {
  return weight(build, build.chunks[MANAGE].file)
}

/** Bytes of the style sheets of the till's management alone. */
export function managementStyles(build) {
  return (build.chunks[MANAGE].css ?? []).reduce((sum, file) => sum + weight(build, file), 0)
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

/** Bytes of all style sheets. */
export function styles(build) {
  return assets(build, '.css').reduce((sum, file) => sum + weight(build, file), 0)
}

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
