// This test lies beside the scripts because it reads a file, which no module of the app can do.
import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { render, waitFor } from '@testing-library/react'
import { expect, it } from 'vitest'
import { prepareZXingModule, readBarcodes } from 'zxing-wasm/reader'
import { Qr } from '../src/till/ui/qr.tsx'

const wasm = createRequire(import.meta.url).resolve('zxing-wasm/reader/zxing_reader.wasm')
prepareZXingModule({ overrides: { wasmBinary: new Uint8Array(readFileSync(wasm)).buffer } })

const SCALE = 4

/** What a phone's camera reads from the code as the till draws it. */
async function read(text: string): Promise<string | undefined> {
  const { container, unmount } = render(<Qr text={text} label="kode" />)
  await waitFor(() => expect(container.querySelector('path')?.getAttribute('d')).not.toBe(''))
  const drawn = container.innerHTML
  unmount()
  const modules = Number(/viewBox="0 0 (\d+) /.exec(drawn)?.[1])
  const side = modules * SCALE
  const data = new Uint8ClampedArray(side * side * 4).fill(255)
  for (const [, x, y] of drawn.matchAll(/M(\d+) (\d+)h1v1h-1z/g)) {
    for (let row = 0; row < SCALE; row++) {
      const at = ((Number(y) * SCALE + row) * side + Number(x) * SCALE) * 4
      for (let column = 0; column < SCALE; column++) data.fill(0, at + column * 4, at + column * 4 + 3)
    }
  }
  const picture = { data, width: side, height: side, colorSpace: 'srgb' } as ImageData
  const [found] = await readBarcodes(picture, { formats: ['QRCode'] })
  return found?.text
}

it('is read as what it says, whatever its length', async () => {
  for (let length = 1; length <= 200; length += 13) {
    const text = 'https://cuci.example:8443/register/'.repeat(6).slice(0, length)
    expect(await read(text), text).toBe(text)
  }
})
