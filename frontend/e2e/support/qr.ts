import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { prepareZXingModule, readBarcodes } from 'zxing-wasm/reader'

const wasm = createRequire(import.meta.url).resolve('zxing-wasm/reader/zxing_reader.wasm')
prepareZXingModule({ overrides: { wasmBinary: new Uint8Array(readFileSync(wasm)).buffer } })

/** The text in the QR code of a `data:` picture, as a cashier's reader would see it. */
export async function readQr(dataUrl: string): Promise<string> {
  const picture = Buffer.from(dataUrl.replace(/^data:image\/png;base64,/, ''), 'base64')
  const [found] = await readBarcodes(picture, { formats: ['QRCode'] })
  if (!found) throw new Error('no QR code in the picture')
  return found.text
}
