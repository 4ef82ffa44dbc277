import { useEffect } from 'react'
import { openLive } from '@/till/lib/live'
import { useSession } from '@/till/lib/session'

/** Hears at once when the server has ended the session of whoever is here. Once, around all screens. */
export function useFollowSession(): void {
  const token = useSession(({ session }) => session?.token ?? null)
  useEffect(() => (token === null ? undefined : openLive()), [token])
}
