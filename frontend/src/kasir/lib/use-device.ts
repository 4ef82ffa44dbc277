import { useQuery } from '@tanstack/react-query'
import { getDevice } from '@/kasir/api/calls'
import { keys } from '@/kasir/api/keys'

/** People come and go, and locks end: what the browser shows of them is never older than this. */
const FRESH_MS = 60_000

/** This browser as the server knows it: its outlet, and who works there. */
export const useDevice = () =>
  useQuery({ queryKey: keys.device, queryFn: ({ signal }) => getDevice(signal), staleTime: FRESH_MS })
