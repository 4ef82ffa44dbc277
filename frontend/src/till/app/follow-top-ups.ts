import { useEffect } from 'react'
import { useSession } from '@/till/lib/session'
import { topUps } from '@/till/lib/top-ups'
import { useConnected } from '@/till/lib/use-connected'

/** Notifies the open top-up of logins and of a restored connection. Used once, around all screens. */
export function useFollowTopUps(): void {
  const who = useSession(({ session }) => session?.petugas ?? null)
  const connected = useConnected()
  useEffect(() => topUps.enter(who), [who])
  useEffect(() => {
    if (connected) topUps.again()
  }, [connected])
}
