import { useQuery } from '@tanstack/react-query'
import { serverAnswers } from '@/shared/lib/net/server-answers'
import { useOnline } from '@/shared/lib/net/use-online'
import { useLine } from '@/till/lib/session/line'

/** Interval of health checks: long while the server answers, short while it does not. */
const CHECK_MS = { up: 30_000, down: 4_000 }

/** Whether money can move now: the device reports a network, and the server answered the last call. */
export function useConnected(): boolean {
  const online = useOnline()
  const up = useLine((state) => state.up)
  return online && up
}

/** Checks the server's health while the page is visible. Used once, around all screens. */
export function useHeartbeat(): void {
  const up = useLine((state) => state.up)
  const online = useOnline()
  useQuery({
    queryKey: ['heartbeat'],
    queryFn: async () => {
      const { answered, lost } = useLine.getState()
      const ok = await serverAnswers()
      if (ok) answered()
      else lost()
      return ok
    },
    retry: false,
    refetchInterval: up && online ? CHECK_MS.up : CHECK_MS.down,
    refetchOnReconnect: 'always',
  })
}
