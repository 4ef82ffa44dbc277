import { useQueryClient } from '@tanstack/react-query'
import { useEffect } from 'react'
import { dashboardQuery, epayQuery } from '@/shared/api/dashboard'

const FIRST_PAUSE_MS = 5_000
const LONGEST_PAUSE_MS = 60_000

/**
 * Reloads the dashboard while a card's countdown is over but the card is still listed: at once, then with growing pauses (at most once in
 * 5 s per card), until the card is gone.
 */
export function useReloadWhile(active: boolean): void {
  const client = useQueryClient()
  useEffect(() => {
    if (!active) return
    let pause_ms = FIRST_PAUSE_MS
    let timer: ReturnType<typeof setTimeout>
    const reload = () => {
      for (const { queryKey } of [dashboardQuery(), epayQuery()]) void client.invalidateQueries({ queryKey })
      timer = setTimeout(reload, pause_ms)
      pause_ms = Math.min(pause_ms * 2, LONGEST_PAUSE_MS)
    }
    reload()
    return () => clearTimeout(timer)
  }, [active, client])
}
