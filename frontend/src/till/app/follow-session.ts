import { useEffect } from 'react'
import { openLive } from '@/till/lib/session/live'
import { useSession } from '@/till/lib/session/session'

/** Receives at once that the server has ended the current session. Used once, around all screens. */
export function useFollowSession(): void {
  const token = useSession(({ session }) => session?.token ?? null)
  useEffect(() => (token === null ? undefined : openLive()), [token])
}
