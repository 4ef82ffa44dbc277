import type { Decode } from '@/shared/scan/decoder'

/**
 * Longest sides, tried in order, of a picture from the gallery. Photos are far larger than a code needs, and a code that fills a large
 * photo is found best at a small size. The largest size comes last because it takes longest; it is for a small sticker beside a large
 * one.
 */
const SIDES = [1600, 800, 400, 3200]

/**
 * Reads the QR codes of a picture file at several sizes, until one code `isWanted`. Returns all found codes; empty when there are no
 * codes or the file is not a picture.
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
    // A size beyond the picture's own adds no detail.
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
  // A transparent picture of a code is black on nothing: paint a white ground first.
  if (pen) {
    pen.fillStyle = '#fff'
    pen.fillRect(0, 0, canvas.width, canvas.height)
    pen.drawImage(picture, 0, 0, canvas.width, canvas.height)
  }
  return canvas
}
