import type { Decode } from '@/shared/scan/decoder'

/** Longest sides tried on a picture from the gallery: photos are far larger than a code needs, and a code that fills a large photo is found best when it is small. */
const SIDES = [1600, 800, 400]

/** Reads the QR code of a picture file; null when there is none or it is no picture. */
export async function decodeFile(file: File, decode: Decode): Promise<string | null> {
  let picture: ImageBitmap
  try {
    picture = await createImageBitmap(file)
  } catch {
    return null
  }
  try {
    for (const side of SIDES) {
      const text = await decode(shrink(picture, side))
      if (text) return text
    }
    return null
  } finally {
    picture.close()
  }
}

function shrink(picture: ImageBitmap, side: number): HTMLCanvasElement {
  const scale = Math.min(1, side / Math.max(picture.width, picture.height))
  const canvas = document.createElement('canvas')
  canvas.width = Math.max(1, Math.round(picture.width * scale))
  canvas.height = Math.max(1, Math.round(picture.height * scale))
  const pen = canvas.getContext('2d')
  // A transparent picture of a code is black on nothing: give it paper.
  if (pen) {
    pen.fillStyle = '#fff'
    pen.fillRect(0, 0, canvas.width, canvas.height)
    pen.drawImage(picture, 0, 0, canvas.width, canvas.height)
  }
  return canvas
}
