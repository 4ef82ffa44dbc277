import { useQuery } from '@tanstack/react-query'
import { getDevice } from '@/till/api/calls'
import { keys } from '@/till/api/keys'
import { useSession } from '@/till/lib/session'

/** People come and go, and locks end: what the browser shows of them is never older than this. */
const FRESH_MS = 60_000

/** This browser as the server knows it: its outlet, and who works there. */
export const useDevice = (enabled = true) =>
  useQuery({
    queryKey: keys.device,
    queryFn: ({ signal }) => getDevice(signal),
    staleTime: FRESH_MS,
    enabled,
  })

/** Whether this browser is a till, as long as nobody has said that it is a person's own. */
export function useSells(): boolean {
  // A browser that is just being paired is not known to the server yet.
  const someone = useSession(({ session }) => session !== null)
  const { data } = useDevice(someone)
  return data === undefined || data.outlet !== null
}
