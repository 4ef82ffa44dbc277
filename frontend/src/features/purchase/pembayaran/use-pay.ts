import { type QueryClient, useQueryClient } from '@tanstack/react-query'
import { useEffect, useEffectEvent, useRef, useState } from 'react'
import { dashboardQuery, epayQuery } from '@/shared/api/dashboard'
import { explain } from '@/shared/api/error'
import { useSend } from '@/shared/api/use-send'
import { added } from '@/shared/copy/added'
import { spec } from '@/shared/copy/spec'
import { onlineOrPause, pause } from '@/shared/lib/pause'
import { toast } from '@/shared/lib/toast'
import { useHome } from '@/shared/lib/trail'
import { whenIdle } from '@/shared/lib/when-idle'
import { serverNow } from '@/shared/realtime/clock'
import { createPurchase, ownerEpayQueries, servicesQueries } from '../calls'
import { fetchPaidLayer, type Paid, paidLayerThere, showPaid } from '../paid/paid'
import {
  endPurchase,
  leaveSent,
  leftOpen,
  markPaid,
  markSent,
  type PurchaseFlow,
  type Receipt,
} from '../purchase-flow'
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

type Chosen = Required<Pick<PurchaseFlow, 'mesin' | 'layanan'>>

/**
 * Pays once. No answer is not a refusal: the same receipt number is asked for again until the server
 * has decided, so that it can never charge twice. `balance`: what there was before, rupiah.
 */
export function usePay(receipt: Receipt, balance: number, { mesin, layanan }: Chosen) {
  const client = useQueryClient()
  const home = useHome()
  const [phase, setPhase] = useState<PayPhase>(
    receipt.paid_ms === null || recent(receipt.paid_ms) ? 'ready' : 'unknown',
  )
  const left = useRef(false)
  const tried = useRef(receipt.paid_ms !== null)

  const paidFor = (): Paid => ({
    idmesin: mesin.id,
    machine: mesin.nama,
    service: layanan.nama,
    ends_at: serverNow() + layanan.durasi * 1000,
    balanceLeft: balance - layanan.harga,
    from: placeOf('[data-paid-machine]'),
  })

  const { submit: pay } = useSend({
    send() {
      const repeat = tried.current
      tried.current = true
      markPaid(receipt, balance)
      setPhase(repeat ? 'asking' : 'sending')
      return askUntilDecided({
        send: () => {
          markSent(receipt)
          return createPurchase(receipt.body)
        },
        repeat,
        left: () => left.current,
        onAgain: () => setPhase('asking'),
        wait: (pause_ms, early) => (early ? onlineOrPause(pause_ms) : pause(pause_ms)),
      })
    },
    async onDone(outcome) {
      if (outcome.kind === 'unknown') return setPhase('unknown')
      const started = outcome.kind === 'started'
      const [, layer] = await Promise.all([freshDashboard(client), started && paidLayerThere()])
      // The number goes with the message: a reload before it hears the same outcome again.
      if (outcome.kind === 'open') leaveSent(receipt)
      else endPurchase(receipt)
      // Somebody who has left for another purchase is told which machine this was about.
      if (left.current) {
        tell(outcome, [mesin.nama], leftOpen(receipt))
        return refreshPrices(client)
      }
      const paid = paidFor()
      const stillOpen = leftOpen(receipt)
      for (const queryKey of PRICES) client.removeQueries({ queryKey })
      await home()
      // On the screen where it is read: a message goes with the one that it came on.
      if (layer) showPaid(paid)
      else tell(outcome, [], stillOpen)
    },
  })

  const resume = useEffectEvent(() => {
    if (receipt.paid_ms !== null && recent(receipt.paid_ms)) pay()
  })
  useEffect(() => {
    void whenIdle()
      .then(fetchPaidLayer)
      .catch(() => undefined)
  }, [])
  useEffect(() => {
    left.current = false
    resume()
    return () => {
      left.current = true
    }
  }, [])

  return { phase, pay: () => pay() }
}

/** Null for what is not shown. */
function placeOf(selector: string): DOMRect | null {
  const place = document.querySelector(selector)?.getBoundingClientRect()
  return place && place.width > 0 ? place : null
}

const recent = (paid_ms: number) => Math.abs(Date.now() - paid_ms) < RESUME_MS

/** What a purchase changes, as the steps before it show it. */
const PRICES = [ownerEpayQueries.queryKey, servicesQueries.queryKey]

/** The next purchase may be showing them. */
function refreshPrices(client: QueryClient): void {
  for (const queryKey of PRICES) void client.invalidateQueries({ queryKey })
}

/** So that the dashboard opens with the machine and the new balance, not with what it last showed. */
function freshDashboard(client: QueryClient): Promise<unknown> {
  const fetched = [
    client.fetchQuery({ ...dashboardQuery(), staleTime: 0 }),
    client.fetchQuery({ ...epayQuery(), staleTime: 0 }),
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
  else {
    // Where the sentence says that money came back, some had been taken.
    const untouched = outcome.first && !open && !title.includes('dikembalikan')
    toast.failure(title, [...about, untouched ? added.pay.moneySafe : added.pay.seeBalance])
  }
}
