import { useEffect, useState } from 'react'
import { partsOf } from '@/shared/lib/format'

/** `14.32`: a bare time of day has a dot, so that nobody takes it for a countdown. */
export function clockTime(instant: string | number | Date): string {
  const parts = partsOf(instant)
  return parts ? `${parts.hour}.${parts.minute}` : '-'
}

/** Epoch ms, drawn anew with each whole step of the clock. */
export function useNow(step_ms: number): number {
  const [now, setNow] = useState(Date.now)
  useEffect(() => {
    const timer = setTimeout(() => setNow(Date.now()), step_ms - (now % step_ms))
    return () => clearTimeout(timer)
  }, [now, step_ms])
  return now
}
