import { useInfiniteQuery } from '@tanstack/react-query'
import { keys } from '@/shared/api/keys'
import type { DataMesin } from '@/shared/api/model'
import { getServices, SERVICE_LIMIT } from '@/shared/api/purchase'

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

/** The services of a scanned machine, ten at a time, and the machine as it is now. */
export function useServices(qr: string, search: string) {
  return useInfiniteQuery({
    queryKey: keys.services(qr, search),
    queryFn: ({ pageParam, signal }) => getServices({ qr, skip: pageParam, search }, signal),
    initialPageParam: 0,
    // The answer has no total: a full page means that there may be more.
    getNextPageParam: (last, _pages, skip) =>
      last.data_layanan.length < SERVICE_LIMIT ? undefined : skip + SERVICE_LIMIT,
    placeholderData: (before) => before,
    refetchInterval: ({ state }) => {
      const machine = state.data?.pages.at(-1)?.data_mesin
      return machine ? pollAfter(machine) : false
    },
  })
}
