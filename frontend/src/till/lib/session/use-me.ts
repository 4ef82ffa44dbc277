import { useQuery } from '@tanstack/react-query'
import { getMe } from '@/till/api/calls'
import { keys } from '@/till/api/keys'
import { useSession } from '@/till/lib/session/session'

/** Maximum age of the rights: an owner may take them away. */
const FRESH_MS = 60_000

/** The server's data of who is logged in: their rights and outlets. */
export function useMe() {
  const someone = useSession(({ session }) => session !== null)
  return useQuery({
    queryKey: keys.me,
    queryFn: ({ signal }) => getMe(signal),
    staleTime: FRESH_MS,
    enabled: someone,
  })
}

/** Whether the member of staff has at least one of these rights; null until the server has answered. */
export type May = (rights: readonly string[]) => boolean | null

export function useMay(): May {
  const { data } = useMe()
  return (rights) => (data ? rights.some((one) => data.hak.includes(one)) : null)
}
