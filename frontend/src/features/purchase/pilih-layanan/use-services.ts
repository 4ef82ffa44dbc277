import { useInfiniteQuery } from '@tanstack/react-query'
import type { DataMesin } from '@/shared/api/model'
import { lastOf } from '@/shared/lib/last-of'
import { servicesQuery } from '../calls'

/** Beside its live ticks the machine is asked about again this often: free, in use, and where no tick tells the end. */
const IDLE_POLL_MS = 20_000
const BUSY_POLL_MS = 15_000
const WAITING_POLL_MS = 4_000

/** `tl`: milliseconds left when it was asked, null when nobody knows. */
export function pollAfter({ status, tl }: Pick<DataMesin, 'status' | 'tl'>): number {
  if (status === 'idle') return IDLE_POLL_MS
  if (status === 'offline' || tl === null) return WAITING_POLL_MS
  return Math.min(BUSY_POLL_MS, Math.max(WAITING_POLL_MS, tl))
}

/** What `servicesQuery` says, again and again. While another search is under way what there was stays. */
export function useServices(qr: string, search: string) {
  return useInfiniteQuery({
    ...servicesQuery(qr, search),
    placeholderData: (before) => before,
    refetchInterval: ({ state }) => {
      const machine = lastOf(state.data?.pages ?? [])?.data_mesin
      return machine ? pollAfter(machine) : false
    },
  })
}
