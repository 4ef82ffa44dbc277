import { type QueryClient, useQueryClient } from '@tanstack/react-query'
import { useEffect, useRef, useState } from 'react'
import { getDashboard, getEpay } from '@/shared/api/dashboard'
import { explain } from '@/shared/api/error'
import { keys } from '@/shared/api/keys'
import { createPurchase } from '@/shared/api/purchase'
import { added } from '@/shared/copy/added'
import { spec } from '@/shared/copy/spec'
import { onlineOrPause, pause } from '@/shared/lib/pause'
import {
  endPurchase,
  leaveSent,
  leftOpen,
  markPaid,
  markSent,
  type Receipt,
} from '@/shared/lib/purchase-flow'
import { toast } from '@/shared/lib/toast'
import { useHome } from '@/shared/lib/trail'
import { askUntilDecided, type Outcome } from './ask'

/**
 * `sending` asks for the first time, `asking` again by the same receipt number after a try without a
 * decision, `unknown` has given up for now.
 */
export type PayPhase = 'ready' | 'sending' | 'asking' | 'unknown'

/** A reload or restart this soon after the tap goes on by itself; later the customer is asked to tap again. */
const RESUME_MS = 60_000
/** A slow network holds the customer no longer than this once the outcome is known. */
const FRESH_MS = 2_000

/**
 * Pays once. No answer is not a refusal: the same receipt number is asked for again until the server
 * has decided, so that it can never charge twice. `balance`: what there was before, rupiah.
 */
export function usePay(receipt: Receipt, balance: number, machineName: string) {
  const client = useQueryClient()
  const home = useHome()
  const [phase, setPhase] = useState<PayPhase>(
    receipt.paid_ms === null || recent(receipt.paid_ms) ? 'ready' : 'unknown',
  )
  const busy = useRef(false)
  const left = useRef(false)
  const tried = useRef(receipt.paid_ms !== null)

  async function pay() {
    if (busy.current) return
    busy.current = true
    const repeat = tried.current
    tried.current = true
    markPaid(receipt, balance)
    setPhase(repeat ? 'asking' : 'sending')
    const outcome = await askUntilDecided({
      send: () => {
        markSent(receipt)
        return createPurchase(receipt.body)
      },
      repeat,
      left: () => left.current,
      onAgain: () => setPhase('asking'),
      wait: (pause_ms, early) => (early ? onlineOrPause(pause_ms) : pause(pause_ms)),
    })
    if (outcome.kind === 'unknown') {
      busy.current = false
      if (!left.current) setPhase('unknown')
      return
    }
    await freshDashboard(client)
    // The number goes with the message: a reload before it hears the same outcome again.
    if (outcome.kind === 'open') leaveSent(receipt)
    else endPurchase(receipt)
    // Somebody who has left for another purchase is told which machine this was about.
    tell(outcome, left.current ? [machineName] : [], leftOpen(receipt))
    if (left.current) return refreshPrices(client)
    for (const queryKey of PRICES) client.removeQueries({ queryKey })
    home()
  }

  const latest = useRef(pay)
  latest.current = pay
  useEffect(() => {
    left.current = false
    if (receipt.paid_ms !== null && recent(receipt.paid_ms)) void latest.current()
    return () => {
      left.current = true
    }
  }, [receipt])

  return { phase, pay: () => void pay() }
}

const recent = (paid_ms: number) => Math.abs(Date.now() - paid_ms) < RESUME_MS

/** What a purchase changes, as the steps before it show it. */
const PRICES = [['owner-epay'], ['services']]

/** The next purchase may be showing them. */
function refreshPrices(client: QueryClient): void {
  for (const queryKey of PRICES) void client.invalidateQueries({ queryKey })
}

/** So that the dashboard opens with the machine and the new balance, not with what it last showed. */
function freshDashboard(client: QueryClient): Promise<unknown> {
  const fetched = [
    client.fetchQuery({ queryKey: keys.dashboard, queryFn: () => getDashboard(), staleTime: 0 }),
    client.fetchQuery({ queryKey: keys.epay, queryFn: () => getEpay(), staleTime: 0 }),
  ]
  return Promise.race([Promise.allSettled(fetched), pause(FRESH_MS)])
}

/**
 * The server's message; what it means for the money and what to do next. `open`: some purchase may still take money.
 * Only when nothing was ever asked that stayed without an answer may it be said that none was taken.
 */
function tell(outcome: Exclude<Outcome, { kind: 'unknown' }>, about: string[], open: boolean): void {
  if (outcome.kind === 'started') {
    toast.success(spec.machineStarted, [...about, added.pay.startedBody])
    return
  }
  const { title } = explain(outcome.error)
  if (outcome.kind === 'open') toast.info(title, [...about, added.pay.seeDashboard])
  else toast.failure(title, [...about, outcome.first && !open ? added.pay.moneySafe : added.pay.seeBalance])
}
