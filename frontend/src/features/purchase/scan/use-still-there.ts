import { useRef } from 'react'

/** A code not seen for this long has left the view: if it is seen again, the customer means it. */
const GONE_MS = 1_500

/**
 * Whether the camera still sees the code that led away from here and has been in view since the customer came back. Without this check it
 * would lead away again at once, endlessly. `before` is called at the first frame; null: no code led away.
 */
export function useStillThere(before: () => string | null): (text: string) => boolean {
  const code = useRef<string | null | undefined>(undefined)
  const seen_at = useRef<number | null>(null)
  return (text) => {
    if (code.current === undefined) code.current = before()
    if (text !== code.current) return false
    const now = Date.now()
    const stays = seen_at.current === null || now - seen_at.current < GONE_MS
    seen_at.current = now
    if (!stays) code.current = null
    return stays
  }
}
