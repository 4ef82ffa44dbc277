// This test lies beside the scripts because it reads a file, which no module of the app can do.
import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { expect, it } from 'vitest'
import { prepareZXingModule, readBarcodes } from 'zxing-wasm/reader'
import { qrCode } from '../src/till/lib/qr-code.ts'

const wasm = createRequire(import.meta.url).resolve('zxing-wasm/reader/zxing_reader.wasm')
prepareZXingModule({ overrides: { wasmBinary: new Uint8Array(readFileSync(wasm)).buffer } })

const SCALE = 4
const MARGIN = 4

/** Reads the code as a phone's camera does. */
async function read(rows: boolean[][]): Promise<string | undefined> {
  const side = (rows.length + 2 * MARGIN) * SCALE
  const data = new Uint8ClampedArray(side * side * 4).fill(255)
  for (let y = 0; y < side; y++) {
    for (let x = 0; x < side; x++) {
      const dark = rows[Math.floor(y / SCALE) - MARGIN]?.[Math.floor(x / SCALE) - MARGIN]
      if (dark) data.fill(0, (y * side + x) * 4, (y * side + x) * 4 + 3)
    }
  }
  const picture = { data, width: side, height: side, colorSpace: 'srgb' } as ImageData
  const [found] = await readBarcodes(picture, { formats: ['QRCode'] })
  return found?.text
}

it('is read as what it says, in every version', async () => {
  const sizes = new Set<number>()
  for (let length = 1; length <= 106; length += 5) {
    const text = 'https://cuci.example:8443/register/'.repeat(4).slice(0, length)
    const rows = qrCode(text) ?? []
    sizes.add(rows.length)
    expect(await read(rows), text).toBe(text)
  }
  expect([...sizes]).toEqual([21, 25, 29, 33, 37, 41])
})

it('is none for a text that is too long', () => {
  expect(qrCode('x'.repeat(107))).toBeNull()
})
