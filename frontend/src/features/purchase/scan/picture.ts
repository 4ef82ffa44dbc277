import type { Decode } from '@/shared/scan/decoder'

/**
 * Longest sides tried on a picture from the gallery: photos are far larger than a code needs, and a code that fills a
 * large photo is found best when it is small. The largest comes last, for a small sticker beside a large one: it takes longest.
 */
const SIDES = [1600, 800, 400, 3200]

/**
 * Reads the QR codes of a picture file, at several sizes until one of them `isWanted`. Gives all that were found; empty when
 * there is none or it is no picture.
 */
export async function textsOfFile(
  file: File,
  decode: Decode,
  isWanted: (text: string) => boolean,
): Promise<string[]> {
  let picture: ImageBitmap
  try {
    picture = await createImageBitmap(file)
  } catch {
    return []
  }
  try {
    const found = new Set<string>()
    const longest = Math.max(picture.width, picture.height)
    // Beyond its own size nothing more is to be seen.
    for (const side of SIDES.filter((side) => side < 2 * longest || side === SIDES[0])) {
      for (const text of await decode(shrink(picture, side))) found.add(text)
      if ([...found].some(isWanted)) break
    }
    return [...found]
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
