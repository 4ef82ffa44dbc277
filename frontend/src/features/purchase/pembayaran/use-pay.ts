import { type QueryClient, useQueryClient } from '@tanstack/react-query'
import { useEffect, useEffectEvent, useRef, useState } from 'react'
import { dashboardQuery, epayQuery } from '@/shared/api/dashboard'
import { explain } from '@/shared/api/error'
import type { PriceNow } from '@/shared/api/model'
import { useSend } from '@/shared/api/use-send'
import { copy } from '@/shared/copy/copy'
import { onlineOrPause, pause } from '@/shared/lib/net/pause'
import { useHome } from '@/shared/lib/page/trail'
import { whenIdle } from '@/shared/lib/page/when-idle'
import { rupiah } from '@/shared/lib/text/format'
import { toast } from '@/shared/lib/toast/toast'
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
  type PurchaseReceipt,
} from '../purchase-flow'
import { askUntilDecided, type Outcome } from './ask'
import { pembayaran } from './pembayaran-copy'
import { priceNowOf } from './price-now'

/**
 * `sending`: the first attempt. `asking`: a repeat with the same receipt number after an attempt without a decision. `unknown`: the app
 * has given up for now.
 */
export type PayPhase = 'ready' | 'sending' | 'asking' | 'unknown'

/** Within this time after the tap a reload or restart resumes the payment; later the customer must tap again. */
const RESUME_MS = 60_000
/** Once the outcome is known, a slow network delays the customer at most this long. */
const FRESH_MS = 2_000

type ChosenService = Required<Pick<PurchaseFlow, 'mesin' | 'layanan'>>

/**
 * Pays once. A missing answer is not a refusal: the same receipt number is sent again until the server has decided, so that it can never
 * charge twice. `balance`: the balance before, rupiah. `onPrice`: the server refused the receipt for good, because the service has another
 * price now. Nothing is sent at that price before the customer taps again.
 */
export function usePay(
  receipt: PurchaseReceipt,
  balance: number,
  { mesin, layanan }: ChosenService,
  onPrice: (price: PriceNow) => void,
) {
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
      const price = outcome.kind === 'refused' ? priceNowOf(outcome.error) : null
      if (price && !left.current) {
        void client.invalidateQueries(servicesQueries)
        return onPrice(price)
      }
      const started = outcome.kind === 'started'
      const [, layer] = await Promise.all([freshDashboard(client), started && paidLayerThere()])
      // The receipt is released only with the message: a reload before it gets the same outcome again.
      if (outcome.kind === 'open') leaveSent(receipt)
      else endPurchase(receipt)
      // The customer has left for another purchase: the message names the machine that it is about.
      if (left.current) {
        notify(outcome, [mesin.nama], leftOpen(receipt))
        return refreshPrices(client)
      }
      const paid = paidFor()
      const stillOpen = leftOpen(receipt)
      for (const queryKey of PRICES) client.removeQueries({ queryKey })
      await home()
      // The message is shown on the dashboard: one from this screen would disappear with it.
      if (layer) showPaid(paid)
      else notify(outcome, [], stillOpen)
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

/** Null for an element that is not visible. */
function placeOf(selector: string): DOMRect | null {
  const place = document.querySelector(selector)?.getBoundingClientRect()
  return place && place.width > 0 ? place : null
}

const recent = (paid_ms: number) => Math.abs(Date.now() - paid_ms) < RESUME_MS

/** Queries that a purchase changes, as the previous steps show them. */
const PRICES = [ownerEpayQueries.queryKey, servicesQueries.queryKey]

/** The next purchase may already show the old prices. */
function refreshPrices(client: QueryClient): void {
  for (const queryKey of PRICES) void client.invalidateQueries({ queryKey })
}

/** Refetches the dashboard, so that it opens with the machine and the new balance. */
function freshDashboard(client: QueryClient): Promise<unknown> {
  const fetched = [
    client.fetchQuery({ ...dashboardQuery(), staleTime: 0 }),
    client.fetchQuery({ ...epayQuery(), staleTime: 0 }),
  ]
  return Promise.race([Promise.allSettled(fetched), pause(FRESH_MS)])
}

/**
 * Shows the server's message, its meaning for the money, and the next step. `open`: another purchase may still take money. The app may
 * say that no money was taken only when every attempt was answered.
 */
function notify(outcome: Exclude<Outcome, { kind: 'unknown' }>, about: string[], open: boolean): void {
  if (outcome.kind === 'started') {
    toast.success(copy.pay.machineStarted, [...about, copy.pay.startedBody])
    return
  }
  const price = priceNowOf(outcome.error)
  const title = price ? pembayaran.priceChanged(rupiah(price.harga)) : explain(outcome.error).title
  if (outcome.kind === 'open') toast.info(title, [...about, copy.pay.seeDashboard])
  else {
    // A sentence about returned money means that some had been taken.
    const untouched = outcome.first && !open && !title.includes('dikembalikan')
    toast.failure(title, [...about, untouched ? copy.pay.moneySafe : copy.pay.seeBalance])
  }
}
