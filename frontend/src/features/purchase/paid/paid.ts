import { create } from 'zustand'
import { pause } from '@/shared/lib/net/pause'

/** A purchase whose machine has just started. */
export interface Paid {
  idmesin: number
  machine: string
  service: string
  /** End of the cycle, epoch ms of the server, estimated before the machine reports it. */
  ends_at: number
  /** Rupiah. */
  balanceLeft: number
  /** Place of the machine on the receipt, where its flight starts. */
  from: DOMRect | null
}

/** The message over the dashboard; null: none. */
export const usePaid = create<{ paid: Paid | null }>(() => ({ paid: null }))

/** The layer's file, fetched while the receipt is read. */
export const fetchPaidLayer = () => import('./paid-layer')

/** Time limit for the layer's file: a customer who has paid must not wait longer. */
const PATIENCE_MS = 1_000

/** Whether the layer can be shown; where it cannot, a toast must report the start. */
export function paidLayerThere(): Promise<boolean> {
  const fetched = fetchPaidLayer().then(
    () => true,
    () => false,
  )
  return Promise.race([fetched, pause(PATIENCE_MS).then(() => false)])
}

export const showPaid = (paid: Paid) => usePaid.setState({ paid })
