import { useEffect, useState } from 'react'

/** Epoch ms, drawn anew with each whole step of the clock. */
export function useNow(step_ms: number): number {
  const [now, setNow] = useState(Date.now)
  useEffect(() => {
    const timer = setTimeout(() => setNow(Date.now()), step_ms - (now % step_ms))
    return () => clearTimeout(timer)
  }, [now, step_ms])
  return now
}

/** What the server's clock is ahead of this browser's, ms: a tablet's own is often wrong. */
let ahead_ms = 0

/** `date` is the header of an answer that came just now; it has whole seconds, so less than that is no difference. */
export function learnServerTime(date: string | null, now = Date.now()): void {
  const ahead = Date.parse(date ?? '') - now
  if (!Number.isNaN(ahead)) ahead_ms = Math.abs(ahead) < 2_000 ? 0 : ahead
}

/** Epoch ms by the server's clock, drawn anew each second. */
export const useServerNow = (): number => useNow(1_000) + ahead_ms
