import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { prepareZXingModule as prepareReader, readBarcodes } from 'zxing-wasm/reader'
import { prepareZXingModule as prepareWriter, writeBarcode } from 'zxing-wasm/writer'

const wasm = (name: string) => {
  const file = createRequire(import.meta.url).resolve(`zxing-wasm/${name}/zxing_${name}.wasm`)
  return { overrides: { wasmBinary: new Uint8Array(readFileSync(file)).buffer } }
}
prepareReader(wasm('reader'))
prepareWriter(wasm('writer'))

/** The text in the QR code of a `data:` picture, as a cashier's reader would see it. */
export async function readQr(dataUrl: string): Promise<string> {
  const picture = Buffer.from(dataUrl.replace(/^data:image\/png;base64,/, ''), 'base64')
  const [found] = await readBarcodes(picture, { formats: ['QRCode'] })
  if (!found) throw new Error('no QR code in the picture')
  return found.text
}

/** The texts of all QR codes in a picture. */
export async function readAllQr(picture: Buffer): Promise<string[]> {
  const found = await readBarcodes(picture, { formats: ['QRCode'], maxNumberOfSymbols: 100 })
  return found.map(({ text }) => text)
}

/** A QR code's picture, PNG in base64. */
export async function writeQr(text: string): Promise<string> {
  const { image, error } = await writeBarcode(text, { format: 'QRCode', scale: 8 })
  if (!image) throw new Error(error)
  return Buffer.from(await image.arrayBuffer()).toString('base64')
}
