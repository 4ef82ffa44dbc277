import { useQuery } from '@tanstack/react-query'
import { getOutlets } from '@/till/api/calls'
import { keys } from '@/till/api/keys'
import { useDevice } from '@/till/lib/session/use-device'

/** Maximum age of the choice: an owner may change it. */
const FRESH_MS = 60_000

/**
 * How the till's outlet takes QRIS: `off`, `manual` (a cashier looks into the bank's app), or by a provider's bills; undefined until the
 * server has answered.
 */
export function useQris(): string | undefined {
  const here = useDevice().data?.outlet?.idoutlet
  const { data } = useQuery({
    queryKey: keys.outlets,
    queryFn: ({ signal }) => getOutlets(signal),
    staleTime: FRESH_MS,
  })
  return data?.find((one) => one.idoutlet === here)?.qris
}

/** Whether a bill is made, which the provider reports as paid. */
export const takesBills = (qris: string | undefined) => qris === 'midtrans' || qris === 'simulated'
