import { useQuery } from '@tanstack/react-query'
import { useOnline } from '@/shared/lib/use-online'
import { useLine } from '@/till/lib/line'

/** How often the server is asked whether it is there: seldom while it was, soon again while it was not. */
const BEAT_MS = { up: 30_000, down: 4_000 }
const PATIENCE_MS = 5_000

/** Whether money can move now: what the device says of its network, and what the server's last answer was. */
export function useConnected(): boolean {
  const online = useOnline()
  const up = useLine((state) => state.up)
  return online && up
}

/** Asks on while the page is seen. Once, around all screens. */
export function useHeartbeat(): void {
  const up = useLine((state) => state.up)
  const online = useOnline()
  useQuery({
    queryKey: ['heartbeat'],
    queryFn: async () => {
      const { answered, lost } = useLine.getState()
      const limit = new AbortController()
      const timer = setTimeout(() => limit.abort(), PATIENCE_MS)
      try {
        const { ok } = await fetch('/healthz', { cache: 'no-store', signal: limit.signal })
        if (ok) answered()
        else lost()
        return ok
      } catch {
        lost()
        return false
      } finally {
        clearTimeout(timer)
      }
    },
    retry: false,
    refetchInterval: up && online ? BEAT_MS.up : BEAT_MS.down,
    refetchOnReconnect: 'always',
  })
}
