import { useInfiniteQuery } from '@tanstack/react-query'
import type { DataMesin } from '@/shared/api/model'
import { lastOf } from '@/shared/lib/text/last-of'
import { servicesQuery } from '../calls'

/**
 * Intervals of requests in addition to the live ticks: for a free machine or a closed outlet, for a machine in use, and for one whose
 * end is unknown.
 */
const IDLE_POLL_MS = 20_000
const BUSY_POLL_MS = 15_000
const WAITING_POLL_MS = 4_000

/** `tl`: milliseconds left at the time of the answer, null when unknown. */
export function pollAfter({ status, tl, outlet }: Pick<DataMesin, 'status' | 'tl' | 'outlet'>): number {
  if (status === 'idle' || outlet.tutup) return IDLE_POLL_MS
  if (status === 'offline' || tl === null) return WAITING_POLL_MS
  return Math.min(BUSY_POLL_MS, Math.max(WAITING_POLL_MS, tl))
}

/** The answer of `servicesQuery`, refetched regularly. During a new search the previous results stay. */
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
