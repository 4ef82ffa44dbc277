import { useQuery } from '@tanstack/react-query'
import { getShift } from '@/till/api/calls'
import { keys } from '@/till/api/keys'

/** Interval of requests: another tab of this till may close the shift. */
const LOOK_AGAIN_MS = 60_000

/** The shift of this till and its movements; `data.shift` is null while no shift is open. */
export const useShift = (enabled = true) =>
  useQuery({
    queryKey: keys.shift,
    queryFn: ({ signal }) => getShift(signal),
    refetchInterval: LOOK_AGAIN_MS,
    enabled,
  })
