import { useRef } from 'react'

/** A code that was not seen for so long has left the view: pointed at again, it is meant again. */
const GONE_MS = 1_500

/**
 * Whether what the camera sees is what led away from here, and has been in view since the customer came back: it would lead
 * away again at once, for ever. `before` is asked at the first look; null: nothing led away.
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
