import { useQuery } from '@tanstack/react-query'
import { getDevice } from '@/till/api/calls'
import { keys } from '@/till/api/keys'
import { TECHNICIAN } from '@/till/lib/session/role-name'
import { useSession } from '@/till/lib/session/session'

/** Maximum age of the list of staff: people come and go, and locks end. */
const FRESH_MS = 60_000

/** The server's data of this browser: its outlet, and the staff there. */
export const useDevice = (enabled = true) =>
  useQuery({
    queryKey: keys.device,
    queryFn: ({ signal }) => getDevice(signal),
    staleTime: FRESH_MS,
    enabled,
  })

/** Whether something is sold here: this browser is a till (true until the server reports that it is a person's own), and used by no technician. */
export function useSells(): boolean {
  // The server does not know a browser yet that is just being paired.
  const role = useSession(({ session }) => session?.petugas.role)
  const { data } = useDevice(role !== undefined)
  return role !== TECHNICIAN && (data === undefined || data.outlet !== null)
}
