import { create } from 'zustand'
import { pause } from '@/shared/lib/pause'

/** A purchase whose machine has just started. */
export interface Paid {
  idmesin: number
  machine: string
  service: string
  /** When it is over, epoch ms of the server, as far as it is known without the machine's word. */
  ends_at: number
  /** Rupiah. */
  balanceLeft: number
  /** Where the machine was drawn on the receipt, so that it is seen to come from there. */
  from: DOMRect | null
}

/** What is shown over the dashboard for a moment; null: nothing. */
export const usePaid = create<{ paid: Paid | null }>(() => ({ paid: null }))

/** The layer's file, fetched while the receipt is read. */
export const fetchPaidLayer = () => import('./paid-layer')

/** Nobody who has paid waits longer for it. */
const PATIENCE_MS = 1_000

/** Whether the layer can be shown; where it cannot, it must be told otherwise. */
export function paidLayerThere(): Promise<boolean> {
  const fetched = fetchPaidLayer().then(
    () => true,
    () => false,
  )
  return Promise.race([fetched, pause(PATIENCE_MS).then(() => false)])
}

export const showPaid = (paid: Paid) => usePaid.setState({ paid })
