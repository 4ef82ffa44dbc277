import { mkdirSync, writeFileSync } from 'node:fs'
import { dirname } from 'node:path'
import { type Browser, chromium, type Page, test } from '@playwright/test'
import { CHROMIUM, CHROMIUM_ARGS } from './chromium.ts'

const WIDTH = 640
const HEIGHT = 480

export interface Part {
  /** A PNG picture in base64. */
  png: string
  x: number
  y: number
  side: number
}

/** The camera's view: several pictures on one grey table, as PNG. */
export async function table(page: Page, parts: Part[], width = WIDTH, height = HEIGHT): Promise<Buffer> {
  const png = await page.evaluate(
    async ({ parts, width, height }) => {
      const canvas = new OffscreenCanvas(width, height)
      const pen = canvas.getContext('2d')
      if (!pen) throw new Error('no canvas')
      pen.fillStyle = '#ddd'
      pen.fillRect(0, 0, width, height)
      for (const { png, x, y, side } of parts) {
        const picture = new Image()
        picture.src = `data:image/png;base64,${png}`
        await picture.decode()
        pen.drawImage(picture, x, y, side, side)
      }
      const bytes = new Uint8Array(await (await canvas.convertToBlob({ type: 'image/png' })).arrayBuffer())
      return btoa([...bytes].map((byte) => String.fromCharCode(byte)).join(''))
    },
    { parts, width, height },
  )
  return Buffer.from(png, 'base64')
}

/**
 * A video of one picture in the format that Chromium's fake camera reads (YUV4MPEG2, 4:2:0). The page draws the picture, so that no image
 * library is needed. A picture of the camera's size fills it.
 */
export async function film(page: Page, png: Buffer): Promise<string> {
  const luma = await page.evaluate(
    async ([data, width, height]) => {
      const picture = new Image()
      picture.src = `data:image/png;base64,${data}`
      await picture.decode()
      const canvas = new OffscreenCanvas(Number(width), Number(height))
      const pen = canvas.getContext('2d')
      if (!pen) throw new Error('no canvas')
      pen.fillStyle = '#ddd'
      pen.fillRect(0, 0, canvas.width, canvas.height)
      if (picture.width === canvas.width && picture.height === canvas.height) pen.drawImage(picture, 0, 0)
      else {
        const side = canvas.height * 0.7
        pen.drawImage(picture, (canvas.width - side) / 2, (canvas.height - side) / 2, side, side)
      }
      const { data: rgba } = pen.getImageData(0, 0, canvas.width, canvas.height)
      const out: number[] = []
      for (let i = 0; i < rgba.length; i += 4) out.push(rgba[i] ?? 0)
      return out
    },
    [png.toString('base64'), WIDTH, HEIGHT] as const,
  )
  const grey = Buffer.alloc((WIDTH * HEIGHT) / 2, 128)
  const frame = Buffer.concat([Buffer.from('FRAME\n'), Buffer.from(luma), grey])
  const head = Buffer.from(`YUV4MPEG2 W${WIDTH} H${HEIGHT} F10:1 Ip A1:1 C420jpeg\n`)
  const file = test.info().outputPath('camera.y4m')
  mkdirSync(dirname(file), { recursive: true })
  writeFileSync(file, Buffer.concat([head, frame, frame]))
  return file
}

/** A browser with a camera that films the given picture; without a picture, an empty test picture. */
export function withCamera(y4m?: string): Promise<Browser> {
  const camera = ['--use-fake-ui-for-media-stream', '--use-fake-device-for-media-stream']
  if (y4m) camera.push(`--use-file-for-fake-video-capture=${y4m}`)
  const launch = () => chromium.launch({ executablePath: CHROMIUM, args: [...CHROMIUM_ARGS, ...camera] })
  // Chromium itself sometimes crashes while it starts, before there is a page.
  return launch().catch(launch)
}
