import { useQueryClient } from '@tanstack/react-query'
import { useEffect } from 'react'
import { dashboardQuery, epayQuery } from '@/shared/api/dashboard'
import { pauseBefore, type Schedule } from '@/shared/lib/net/until-decided'

const SCHEDULE: Schedule = { pauses_ms: [5_000, 10_000, 20_000, 40_000, 60_000], after: 'repeat' }

/**
 * Reloads the dashboard while a card's countdown is over but the card is still listed: at once, then with growing pauses (at most once in
 * 5 s per card), until the card is gone.
 */
export function useReloadWhile(active: boolean): void {
  const client = useQueryClient()
  useEffect(() => {
    if (!active) return
    let repeat = 0
    let timer: ReturnType<typeof setTimeout>
    const reload = () => {
      for (const { queryKey } of [dashboardQuery(), epayQuery()]) void client.invalidateQueries({ queryKey })
      timer = setTimeout(reload, pauseBefore(SCHEDULE, repeat++) ?? 0)
    }
    reload()
    return () => clearTimeout(timer)
  }, [active, client])
}
