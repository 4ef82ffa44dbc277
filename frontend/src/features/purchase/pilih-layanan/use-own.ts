import { useQuery } from '@tanstack/react-query'
import { dashboardQuery } from '@/shared/api/dashboard'
import type { SnapTransaksi } from '@/shared/api/model'
import { isWaiting, ownAt } from '@/shared/lib/session/purchases'

/** Interval of requests for a machine that does not answer. */
const WAITING_POLL_MS = 5_000

/** The customer's own purchase at this machine, fetched while the machine is not free. */
export function useOwn(idmesin: number, taken: boolean): SnapTransaksi | undefined {
  const { data } = useQuery({
    ...dashboardQuery(),
    enabled: taken,
    refetchInterval: ({ state }) => {
      const own = ownAt(state.data, idmesin)
      return own && isWaiting(own) ? WAITING_POLL_MS : false
    },
  })
  return taken ? ownAt(data, idmesin) : undefined
}
