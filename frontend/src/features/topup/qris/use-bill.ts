import { useQuery, useQueryClient } from '@tanstack/react-query'
import { useEffect, useEffectEvent, useRef, useState } from 'react'
import type { Failure } from '@/shared/api/asked'
import { epayQuery } from '@/shared/api/dashboard'
import { type ApiError, asApiError } from '@/shared/api/error'
import type { Bill } from '@/shared/api/model'
import { useSend } from '@/shared/api/use-send'
import { onlineOrPause } from '@/shared/lib/net/pause'
import { isDecided, type Schedule, untilDecided } from '@/shared/lib/net/until-decided'
import { currentCustomer } from '@/shared/lib/session/auth-store'
import { toast } from '@/shared/lib/toast/toast'
import { type BillChoice, type BillRequest, billQuery, cancelBill, createBill } from './calls'
import { type KeptBill, keptBillOf } from './kept-bill'
import { qris } from './qris-copy'
import { newUuid } from './uuid'

const SCHEDULE: Schedule = { pauses_ms: [1_000, 2_000, 4_000, 8_000], after: 'stop' }
/** Upper limit for a `Retry-After`: the customer waits. */
const LONGEST_MS = 15_000
/** How often an open page asks for its bill. The server asks the provider as often. */
const LOOK_MS = 3_000
/** After its time only a late payment is of interest. */
const LOOK_LATER_MS = 15_000

export type BillState =
  | { is: 'none' }
  | { is: 'asking' }
  /** The bill's fate is unknown for now: the request, or a look at it, failed. */
  | { is: 'unknown'; failure: Failure }
  | { is: 'known'; bill: Bill }

/** The customer's bill: asked for, looked at until it is over, cancelled. */
export function useBill() {
  const client = useQueryClient()
  const [place] = useState(() => keptBillOf(currentCustomer()))
  const [resumed] = useState(() => place.read())
  const [kept, setKept] = useState<KeptBill | null>(resumed)
  const [unanswered, setUnanswered] = useState<ApiError | null>(null)
  const left = useRef(false)
  const id = kept?.idtagihan ?? null

  function keep(next: KeptBill | null): void {
    if (next) place.write(next)
    else place.clear()
    setKept(next)
  }

  const asking = useSend({
    async send(request: BillRequest) {
      const asked = { request, idtagihan: null, asked_ms: Date.now() }
      keep(asked)
      setUnanswered(null)
      let last: ApiError | null = null
      const decision = await untilDecided({
        send: () => createBill(request),
        maybeMade: request.id === kept?.request.id,
        isDecided,
        schedule: SCHEDULE,
        longest_ms: LONGEST_MS,
        async wait(pause_ms, error) {
          last = error
          if (left.current) return false
          await onlineOrPause(pause_ms)
          return !left.current
        },
      })
      if (decision.is === 'refused') throw decision.error
      if (decision.is === 'open') return setUnanswered(last ?? asApiError(null))
      const { idtagihan } = decision.answer
      client.setQueryData(billQuery(idtagihan).queryKey, decision.answer)
      keep({ ...asked, idtagihan })
    },
    onFailed: () => keep(null),
  })

  const resume = useEffectEvent(() => {
    if (resumed?.idtagihan === null) asking.submit(resumed.request)
  })
  useEffect(() => {
    left.current = false
    resume()
    return () => {
      left.current = true
    }
  }, [])

  const query = useQuery({
    ...billQuery(id ?? ''),
    enabled: id !== null,
    refetchOnWindowFocus: 'always',
    refetchOnReconnect: 'always',
    refetchInterval: ({ state }) => lookAgainAfter(state.data),
  })
  const bill = id === null ? undefined : query.data
  const gone = asApiError(query.error).status === 404
  const paid = bill?.status === 'dibayar'
  useEffect(() => {
    if (!paid && !gone) return
    place.clear()
    if (gone) setKept(null)
    // Where the socket is silent, too.
    void client.invalidateQueries({ queryKey: epayQuery().queryKey })
  }, [client, place, paid, gone])

  const cancelling = useSend({
    send: cancelBill,
    onDone(ended) {
      client.setQueryData(billQuery(ended.idtagihan).queryKey, ended)
      if (ended.status !== 'batal') return
      keep(null)
      toast.info(qris.cancelled)
    },
    // It may have been paid in the meantime.
    onFailed: () => void query.refetch(),
  })

  return {
    state: stateOf(),
    /** The bill was already there when the screen was opened. */
    resumed: id !== null && resumed?.idtagihan === id,
    asking: asking.pending,
    cancelling: cancelling.pending,
    ask: (choice: BillChoice) => asking.submit({ id: newUuid(), ...choice }),
    cancel: () => id !== null && cancelling.submit(id),
    /** The customer has seen how it ended. */
    dismiss: () => keep(null),
  }

  function stateOf(): BillState {
    if (!kept) return { is: 'none' }
    if (bill) return { is: 'known', bill }
    if (asking.pending) return { is: 'asking' }
    if (unanswered) {
      const onRetry = () => asking.submit(kept.request)
      return { is: 'unknown', failure: { error: unanswered, pending: false, onRetry } }
    }
    if (!query.error) return { is: 'asking' }
    const { error, isFetching: pending } = query
    return { is: 'unknown', failure: { error, pending, onRetry: () => void query.refetch() } }
  }
}

/** It can still be paid or cancelled. */
export const isOpen = ({ status }: Bill) => status === 'dibuat' || status === 'menunggu'

function lookAgainAfter(bill: Bill | undefined): number | false {
  if (!bill || isOpen(bill)) return LOOK_MS
  return bill.status === 'kedaluwarsa' ? LOOK_LATER_MS : false
}
