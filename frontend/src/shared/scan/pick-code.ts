/** The same code is not taken again before this, so that a refusal can be read. */
const SAME_CODE_MS = 6_000
/**
 * Number of frames in a row with only foreign codes before they are reported. At the edge of the picture, or while the camera still
 * focuses, the code of a neighbouring sticker is often read first.
 */
const LOOKS = 3

export type Picked = { is: 'ours'; text: string } | { is: 'foreign' } | null

/**
 * Picks the code to act on from each frame of a camera. The camera sees the same codes many times a second, and other stickers beside
 * ours. `isOurs` are tried in their order: a code of the first kind is taken before one of the next. Null: nothing new.
 */
export function codePicker(isOurs: ((text: string) => boolean)[]): (texts: string[], now?: number) => Picked {
  const seen = new Map<string, number>()
  let foreignLooks = 0

  return (texts, now = Date.now()) => {
    for (const [text, at] of seen) if (Math.abs(now - at) >= SAME_CODE_MS) seen.delete(text)
    const isNew = (text: string) => !seen.has(text)
    const ours = isOurs.flatMap((is) => texts.filter(is))
    if (ours.length === 0) {
      foreignLooks += 1
      if (foreignLooks < LOOKS || !texts.some(isNew)) return null
      for (const text of texts) seen.set(text, now)
      return { is: 'foreign' }
    }
    foreignLooks = 0
    const text = ours.find(isNew)
    if (text === undefined) return null
    seen.set(text, now)
    return { is: 'ours', text }
  }
}
