import { useEffect } from 'react'
import { slot } from '@/shared/lib/session/storage'
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

/** Set while this tab shows a wall. */
const onWall = slot<true>('session', 'nyala.kasir.dinding', (value): value is true => value === true)

/** A wall is not touched for hours and does not lock itself. Who leaves it types a PIN, also after a reload of another address. */
export function useWallLock(wall: boolean): void {
  useEffect(() => {
    if (wall) onWall.write(true)
    else if (onWall.read()) {
      onWall.clear()
      lock()
    }
  }, [wall])
}

/** Locks the page after a time without input, except on a wall. */
export function useIdleLock({ petugas }: Session, wall: boolean): void {
  const { data } = useDevice()
  const shared = data?.outlet != null
  const limit_ms = shared && mayApprove(petugas.role) ? IDLE_ABOVE_KASIR_MS : IDLE_MS
  useEffect(() => {
    if (wall) return
    const { touch, stop } = watchIdle(limit_ms, lock)
    const forget = useScans.subscribe(touch)
    return () => {
      forget()
      stop()
    }
  }, [limit_ms, wall])
}
