import { useEffect, useState } from 'react'
import styles from './outlet.module.css'
import { outletCopy as copy } from './outlet-copy'

/** Older news says nothing certain about a machine. */
export const FRESH_MS = 30_000

/** Whether something of that instant is still certain. Renders when it ends. */
export function useFresh(at_ms: number): boolean {
  const [now, setNow] = useState(Date.now)
  useEffect(() => {
    setNow(Date.now())
    const timer = setTimeout(() => setNow(Date.now()), Math.max(0, at_ms + FRESH_MS - Date.now()) + 1)
    return () => clearTimeout(timer)
  }, [at_ms])
  return Math.abs(Math.max(now, at_ms) - at_ms) < FRESH_MS
}

/** Until when the machines are known. */
export function AsOf({ at_ms, fresh }: { at_ms: number; fresh: boolean }) {
  return (
    <p role="status" className={fresh ? styles.asOf : styles.unsure}>
      {fresh ? copy.asOf(at_ms) : copy.unsureSince(at_ms)}
    </p>
  )
}
