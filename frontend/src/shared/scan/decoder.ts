import wasm from 'zxing-wasm/reader/zxing_reader.wasm?url'
import { importAgain } from '@/shared/lib/net/import-again'
import { loadWasm } from './wasm'

/** The texts of all QR codes in a picture, the one nearest to its middle first; an empty list without codes. */
export type Decode = (picture: HTMLCanvasElement) => Promise<string[]>

interface Detected {
  rawValue: string
  boundingBox: { x: number; y: number; width: number; height: number }
}

interface Detector {
  detect: (picture: HTMLCanvasElement) => Promise<Detected[]>
}

interface DetectorClass {
  new (options: { formats: string[] }): Detector
  getSupportedFormats: () => Promise<string[]>
}

let ready: Promise<Decode> | null = null

/** The browser's own detector when it passes the test, else the one in WebAssembly. Fetched once. */
export function loadDecoder(): Promise<Decode> {
  ready ??= choose().catch((error: unknown) => {
    ready = null
    throw error
  })
  return ready
}

/** The loaded decoder does not work: the next `loadDecoder` chooses again. */
export function reloadDecoder(): void {
  ready = null
}

async function choose(): Promise<Decode> {
  return asDecode((await native()) ?? (await fallback()))
}

function asDecode(detector: Detector): Decode {
  return async (picture) => {
    const found = await detector.detect(picture)
    const fromMiddle = ({ boundingBox: { x, y, width, height } }: Detected) =>
      Math.hypot(x + (width - picture.width) / 2, y + (height - picture.height) / 2)
    return found
      .sort((a, b) => fromMiddle(a) - fromMiddle(b))
      .flatMap(({ rawValue }) => (rawValue ? [rawValue] : []))
  }
}

/** Some phones have the class but never find a code (no service behind it), so it must read a known code first. */
async function native(): Promise<Detector | null> {
  const Native = (globalThis as { BarcodeDetector?: DetectorClass }).BarcodeDetector
  if (!Native) return null
  try {
    if (!(await Native.getSupportedFormats()).includes('qr_code')) return null
    const detector = new Native({ formats: ['qr_code'] })
    const [found] = await detector.detect(drawTestCode())
    return found?.rawValue === TEST_TEXT ? detector : null
  } catch {
    return null
  }
}

const ponyfill = importAgain(async () => {
  // The only function of the library that the oldest browsers lack.
  const own = Object as { hasOwn?: (of: object, key: PropertyKey) => boolean }
  own.hasOwn ??= (of, key) => Object.getOwnPropertyDescriptor(of, key) !== undefined
  return import('barcode-detector/ponyfill')
})

/** Rejects when it cannot be fetched or does not run here: a resolved detector can read. */
async function fallback(): Promise<Detector> {
  const [library, bytes] = await Promise.all([ponyfill(), loadWasm(wasm)])
  try {
    const overrides = { wasmBinary: bytes, printErr: () => undefined }
    await library.prepareZXingModule({ overrides, fireImmediately: true })
  } catch (error) {
    // Otherwise the library keeps a failure permanently.
    library.purgeZXingModule()
    throw error
  }
  return new library.BarcodeDetector({ formats: ['qr_code'] })
}

const TEST_TEXT = 'NYALA'
/** A QR code (version 1) of `TEST_TEXT`: one row of 21 modules per number, dark is 1. */
const TEST_ROWS = [
  0x1fdd7f, 0x104941, 0x174d5d, 0x17575d, 0x17535d, 0x105541, 0x1fd57f, 0x001000, 0x1175f9, 0x119dc5,
  0x1ef187, 0x0a8f2d, 0x15ce73, 0x001b2b, 0x1fda7f, 0x1040d1, 0x1755cf, 0x1749c7, 0x174188, 0x104729,
  0x1fd277,
]
const TEST_SCALE = 6
const TEST_MARGIN = 4

function drawTestCode(): HTMLCanvasElement {
  const modules = TEST_ROWS.length
  const canvas = document.createElement('canvas')
  canvas.width = canvas.height = (modules + 2 * TEST_MARGIN) * TEST_SCALE
  const pen = canvas.getContext('2d')
  if (!pen) throw new Error('no 2d canvas')
  pen.fillStyle = '#fff'
  pen.fillRect(0, 0, canvas.width, canvas.height)
  pen.fillStyle = '#000'
  for (const [y, row] of TEST_ROWS.entries()) {
    for (let x = 0; x < modules; x++) {
      if ((row >> (modules - 1 - x)) & 1) {
        pen.fillRect((x + TEST_MARGIN) * TEST_SCALE, (y + TEST_MARGIN) * TEST_SCALE, TEST_SCALE, TEST_SCALE)
      }
    }
  }
  return canvas
}
