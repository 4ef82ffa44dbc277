// usage: node scripts/precompress.mjs [DIST]   (part of `npm run build`)
// Writes x.js.br and x.js.gz beside each file of the build that becomes smaller. The server sends them as they are.
import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { argv } from 'node:process'
import { fileURLToPath } from 'node:url'
import { brotliCompressSync, constants, gzipSync } from 'node:zlib'

/** Text and code; pictures and fonts are compressed already. */
const WORTH_IT = /\.(css|html|js|json|svg|txt|wasm|webmanifest)$/
/** A file below this size fits into one packet anyway. */
const LEAST_BYTES = 512

const brotli = (bytes) =>
  brotliCompressSync(bytes, {
    params: {
      [constants.BROTLI_PARAM_QUALITY]: constants.BROTLI_MAX_QUALITY,
      [constants.BROTLI_PARAM_SIZE_HINT]: bytes.length,
    },
  })

const FORMS = [
  { ending: '.br', pack: brotli },
  { ending: '.gz', pack: (bytes) => gzipSync(bytes, { level: constants.Z_BEST_COMPRESSION }) },
]

/** Compresses the files below `dist` and returns their total bytes before and after, plain and in each form. */
export function precompress(dist) {
  const files = readdirSync(dist, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && WORTH_IT.test(entry.name))
    .map((entry) => join(entry.parentPath, entry.name))
    // The server does not serve Vite's files for tools.
    .filter((path) => !path.includes('/.vite/'))
  const total = { files: 0, plain: 0, br: 0, gz: 0 }
  for (const path of files) {
    const bytes = readFileSync(path)
    const packed = FORMS.map(({ ending, pack }) => ({ ending, bytes: pack(bytes) }))
    if (bytes.length < LEAST_BYTES || packed.some((form) => form.bytes.length >= bytes.length)) continue
    for (const form of packed) {
      writeFileSync(path + form.ending, form.bytes)
      total[form.ending.slice(1)] += form.bytes.length
    }
    total.files += 1
    total.plain += bytes.length
  }
  return total
}

if (argv[1] === fileURLToPath(import.meta.url)) {
  const { files, plain, br, gz } = precompress(argv[2] ?? fileURLToPath(new URL('../dist/', import.meta.url)))
  const kB = (bytes) => `${(bytes / 1000).toFixed(1)} kB`
  console.log(`precompressed ${files} files of ${kB(plain)}: brotli ${kB(br)}, gzip ${kB(gz)}`)
}
