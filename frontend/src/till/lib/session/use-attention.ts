import { useQuery } from '@tanstack/react-query'
import { getAttention } from '@/till/api/calls'
import { keys } from '@/till/api/keys'
import type { Attention } from '@/till/api/types'
import { useSession } from '@/till/lib/session/session'

/** Everything that needs a person at the outlets in sight, asked for at this interval while the page is visible. */
export function useAttention(interval_ms: number) {
  const someone = useSession(({ session }) => session !== null)
  return useQuery({
    queryKey: keys.attention,
    queryFn: ({ signal }) => getAttention(signal),
    refetchInterval: interval_ms,
    enabled: someone,
  })
}

/** An entry is known by what it is about and since when. */
export const entryKey = ({ jenis, idoutlet, idmesin, idshift, sejak }: Attention): string =>
  [jenis, idoutlet, idmesin, idshift, sejak].join(' ')
