import { useInfiniteQuery } from '@tanstack/react-query'
import { keys } from '@/shared/api/keys'
import { getLayanan, LIMIT_LAYANAN } from '@/shared/api/transaksi'

/** A machine in use or offline is asked about again this often, besides its live ticks. */
const BUSY_POLL_MS = 15_000

/** The services of a scanned machine, ten at a time, and the machine as it is now. */
export function useLayanan(qr: string, search: string) {
  return useInfiniteQuery({
    queryKey: keys.layanan(qr, search),
    queryFn: ({ pageParam, signal }) => getLayanan({ qr, skip: pageParam, search }, signal),
    initialPageParam: 0,
    // The answer has no total: a full page means that there may be more.
    getNextPageParam: (last, _pages, skip) =>
      last.data_layanan.length < LIMIT_LAYANAN ? undefined : skip + LIMIT_LAYANAN,
    placeholderData: (before) => before,
    refetchInterval: ({ state }) =>
      state.data?.pages.at(-1)?.data_mesin.status === 'idle' ? false : BUSY_POLL_MS,
  })
}
