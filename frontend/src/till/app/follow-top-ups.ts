import { useEffect } from 'react'
import { topUps } from '@/till/lib/money/top-ups'
import { useSession } from '@/till/lib/session/session'
import { useConnected } from '@/till/lib/session/use-connected'

/** Notifies the open top-up of logins and of a restored connection. Used once, around all screens. */
export function useFollowTopUps(): void {
  const who = useSession(({ session }) => session?.petugas ?? null)
  const connected = useConnected()
  useEffect(() => topUps.enter(who), [who])
  useEffect(() => {
    if (connected) topUps.again()
  }, [connected])
}
