import { useEffect } from 'react'
import { logOut } from '@/till/api/calls'
import { watchIdle } from '@/till/lib/idle'
import { useScans } from '@/till/lib/scans'
import type { Session } from '@/till/lib/session'
import { mayApprove, useSession } from '@/till/lib/session'
import { useDevice } from '@/till/lib/use-device'

const IDLE_MS = 15 * 60_000
/** At a tablet that others reach, nobody's wider rights stay open for long. */
const IDLE_ABOVE_KASIR_MS = 60_000

/** Locks the page at once; the server ends the session as soon as it hears of it, or by itself after half an hour. */
export function lock(): void {
  void logOut().catch(() => undefined)
  useSession.getState().end()
}

/** Locks by itself when nobody is there. */
export function useIdleLock({ petugas }: Session): void {
  const { data } = useDevice()
  const shared = data?.outlet != null
  const limit_ms = shared && mayApprove(petugas.role) ? IDLE_ABOVE_KASIR_MS : IDLE_MS
  useEffect(() => {
    const { touch, stop } = watchIdle(limit_ms, lock)
    const forget = useScans.subscribe(touch)
    return () => {
      forget()
      stop()
    }
  }, [limit_ms])
}
