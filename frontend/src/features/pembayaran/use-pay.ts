import { type QueryClient, useQueryClient } from '@tanstack/react-query'
import { useEffect, useRef, useState } from 'react'
import { useNavigate } from 'react-router'
import { getDashboard, getEpay } from '@/shared/api/dashboard'
import { asApiError, jelaskan } from '@/shared/api/error'
import { keys } from '@/shared/api/keys'
import { createSnapTransaksi } from '@/shared/api/transaksi'
import { added } from '@/shared/copy/added'
import { spec } from '@/shared/copy/spec'
import { paths } from '@/shared/lib/paths'
import { endPurchase, markPaid, type Nota } from '@/shared/lib/purchase-flow'
import { toast } from '@/shared/lib/toast'

/**
 * `sending` asks for the first time, `asking` again by the same receipt number after a dropped
 * connection, `unknown` has given up for now.
 */
export type PayPhase = 'ready' | 'sending' | 'asking' | 'unknown'

/** Pauses before each further question; after the last the customer decides. */
const PAUSES_MS = [1_000, 2_000, 3_000, 5_000, 8_000, 10_000, 15_000]
/** A reload this soon after the tap goes on by itself; later the customer is asked to tap again. */
const RESUME_MS = 60_000
/** A slow network holds the customer no longer than this once the outcome is known. */
const FRESH_MS = 2_000

/**
 * Pays once. No answer is not a refusal: the same receipt number is asked for again until the server
 * tells the outcome, so that it can never charge twice. `saldo`: the balance before, rupiah.
 */
export function usePay(nota: Nota, saldo: number) {
  const client = useQueryClient()
  const navigate = useNavigate()
  const [phase, setPhase] = useState<PayPhase>('ready')
  const busy = useRef(false)
  const left = useRef(false)

  async function pay() {
    if (busy.current) return
    busy.current = true
    markPaid(nota, saldo)
    setPhase('sending')
    let say = tellStarted
    try {
      await untilAnswered(
        nota,
        () => left.current,
        () => setPhase('asking'),
      )
    } catch (error) {
      const { status, unanswered } = asApiError(error)
      if (unanswered) {
        busy.current = false
        if (!left.current) setPhase('unknown')
        return
      }
      say = () => tell(error)
      // 504 and 5xx decide nothing: the number stays, so that asking again stays free of charge.
      if (status < 500) endPurchase()
    }
    await freshDashboard(client)
    say()
    void client.removeQueries({ queryKey: ['epay-pemilik'] })
    void client.removeQueries({ queryKey: ['layanan'] })
    if (!left.current) navigate(paths.dashboard, { replace: true })
  }

  const latest = useRef(pay)
  latest.current = pay
  useEffect(() => {
    left.current = false
    if (nota.paid_ms !== null && Math.abs(Date.now() - nota.paid_ms) < RESUME_MS) void latest.current()
    return () => {
      left.current = true
    }
  }, [nota])

  return { phase, pay: () => void pay() }
}

async function untilAnswered(nota: Nota, left: () => boolean, onAsk: () => void): Promise<void> {
  for (const pause_ms of [...PAUSES_MS, null]) {
    try {
      await createSnapTransaksi(nota.body)
      return
    } catch (error) {
      if (!asApiError(error).unanswered || pause_ms === null) throw error
      onAsk()
      await onlineOrPause(pause_ms)
      // The customer has left: nothing is asked, and so nothing bought, behind their back.
      if (left()) throw error
    }
  }
}

/** So that the dashboard opens with the machine and the new balance, not with what it last showed. */
function freshDashboard(client: QueryClient): Promise<unknown> {
  const fetched = [
    client.fetchQuery({ queryKey: keys.dashboard, queryFn: () => getDashboard(), staleTime: 0 }),
    client.fetchQuery({ queryKey: keys.epay, queryFn: () => getEpay(), staleTime: 0 }),
  ]
  return Promise.race([Promise.allSettled(fetched), pause(FRESH_MS)])
}

const pause = (ms: number) => new Promise((done) => setTimeout(done, ms))

/** Waits, but no longer than until the network is back. */
function onlineOrPause(pause_ms: number): Promise<void> {
  return new Promise((resolve) => {
    const done = () => {
      clearTimeout(timer)
      window.removeEventListener('online', done)
      resolve()
    }
    const timer = setTimeout(done, pause_ms)
    window.addEventListener('online', done)
  })
}

/** The number goes with the message: a reload before it hears the same outcome again. */
function tellStarted(): void {
  endPurchase()
  toast.sukses(spec.mesinBerhasilDinyalakan, added.bayar.nyalaIsi)
}

/** The server's message; what it means for the money and what to do next. */
function tell(error: unknown): void {
  const { status } = asApiError(error)
  const { judul } = jelaskan(error)
  if (status >= 500) toast.info(judul, added.bayar.lihatBeranda)
  else toast.gagal(judul, added.bayar.saldoAman)
}
