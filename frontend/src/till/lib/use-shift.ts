import { useQuery } from '@tanstack/react-query'
import { getShift } from '@/till/api/calls'
import { keys } from '@/till/api/keys'

/** Another tab of this till may close the shift: nobody goes on for longer than this without having asked. */
const LOOK_AGAIN_MS = 60_000

/** The shift of this till and what has moved in it; `data.shift` is null while none is open. */
export const useShift = () =>
  useQuery({
    queryKey: keys.shift,
    queryFn: ({ signal }) => getShift(signal),
    refetchInterval: LOOK_AGAIN_MS,
  })
