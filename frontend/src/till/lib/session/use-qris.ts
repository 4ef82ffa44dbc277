import { useMe } from '@/till/lib/session/use-me'

/** How the till's outlet takes QRIS: `off`, `manual` (a cashier looks into the bank's app), or by a provider's bills. */
export function useQris(): string | undefined {
  const outlet: { idoutlet: number; qris?: string } | undefined = useMe().data?.outlet[0]
  return outlet?.qris
}

/** Whether a bill is made, which the provider reports as paid. */
export const takesBills = (qris: string | undefined) => qris === 'midtrans' || qris === 'simulated'
