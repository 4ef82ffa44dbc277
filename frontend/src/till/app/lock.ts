import { useEffect } from 'react'
import { logOut } from '@/till/api/calls'
import { useScans } from '@/till/lib/scan/scans'
import { watchIdle } from '@/till/lib/session/idle'
import type { Session } from '@/till/lib/session/session'
import { mayApprove, useSession } from '@/till/lib/session/session'
import { useDevice } from '@/till/lib/session/use-device'

const IDLE_MS = 15 * 60_000
/** A shared tablet must not keep rights above a cashier's open for long. */
const IDLE_ABOVE_KASIR_MS = 60_000

/** Locks the page at once; the server ends the session when it receives the logout, or after half an hour without it. */
export function lock(): void {
  void logOut().catch(() => undefined)
  useSession.getState().end()
}

/** Locks the page after a time without input. */
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
