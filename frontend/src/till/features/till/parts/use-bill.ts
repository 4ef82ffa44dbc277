import { useQuery } from '@tanstack/react-query'
import { asApiError } from '@/shared/api/error'
import { type BillStatus, billKeys, getBill } from '@/till/api/bill-calls'

/** The server asks the provider at most that often. */
const LOOK_MS = 3_000

export const isWaiting = (status: BillStatus | undefined) =>
  status === undefined || status === 'dibuat' || status === 'menunggu'

/** A bill, asked for until it has ended. */
export const useBill = (id: string) =>
  useQuery({
    queryKey: billKeys.bill(id),
    queryFn: ({ signal }) => getBill(id, signal),
    retry: false,
    refetchInterval: ({ state }) => isWaiting(state.data?.status) && !isUnknown(state.error) && LOOK_MS,
  })

/** The server does not know the bill (any more). */
export const isUnknown = (error: unknown) => error != null && asApiError(error).status === 404
