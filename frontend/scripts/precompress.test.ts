import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { brotliDecompressSync, gunzipSync } from 'node:zlib'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { precompress } from './precompress.mjs'

let dist: string
const at = (file: string) => join(dist, file)
const code = 'console.log(1);'.repeat(500)

beforeEach(() => {
  dist = mkdtempSync(join(tmpdir(), 'precompress-'))
  mkdirSync(at('assets'))
  mkdirSync(at('.vite'))
  writeFileSync(at('assets/index-Ab12.js'), code)
  writeFileSync(at('assets/font.woff2'), code)
  writeFileSync(at('index.html'), '<!doctype html>')
  writeFileSync(at('.vite/manifest.json'), code)
})
afterEach(() => rmSync(dist, { recursive: true }))

it('lays both forms beside a file, and both are the file', () => {
  expect(precompress(dist)).toMatchObject({ files: 1, plain: code.length })
  expect(brotliDecompressSync(readFileSync(at('assets/index-Ab12.js.br'))).toString()).toBe(code)
  expect(gunzipSync(readFileSync(at('assets/index-Ab12.js.gz'))).toString()).toBe(code)
})

it('leaves alone what is compressed already, what is tiny, and what is not served', () => {
  precompress(dist)
  for (const file of ['assets/font.woff2', 'index.html', '.vite/manifest.json']) {
    expect(existsSync(`${at(file)}.br`), file).toBe(false)
    expect(existsSync(`${at(file)}.gz`), file).toBe(false)
  }
})
