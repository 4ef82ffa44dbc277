import { useEffect, useState } from 'react'

/** Epoch ms, rendered again at each full step of the clock. */
export function useNow(step_ms: number): number {
  const [now, setNow] = useState(Date.now)
  useEffect(() => {
    const timer = setTimeout(() => setNow(Date.now()), step_ms - (now % step_ms))
    return () => clearTimeout(timer)
  }, [now, step_ms])
  return now
}

/** The server's clock minus this browser's, ms: a tablet's own clock is often wrong. */
let ahead_ms = 0

/** `date` is the header of an answer that arrived just now; it has whole seconds, so a smaller difference is ignored. */
export function learnServerTime(date: string | null, now = Date.now()): void {
  const ahead = Date.parse(date ?? '') - now
  if (!Number.isNaN(ahead)) ahead_ms = Math.abs(ahead) < 2_000 ? 0 : ahead
}

/** Epoch ms by the server's clock, rendered again each second. */
export const useServerNow = (): number => useNow(1_000) + ahead_ms
