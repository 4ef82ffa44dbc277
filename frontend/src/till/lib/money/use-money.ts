import { useQueryClient } from '@tanstack/react-query'
import { useEffect, useEffectEvent, useState, useSyncExternalStore } from 'react'
import { type ApiError, asApiError } from '@/shared/api/error'
import { useSubmit } from '@/shared/lib/form/use-submit'
import type { MoneyRequest } from '@/till/api/calls'
import { keys } from '@/till/api/keys'
import { NO_SHIFT_NOW, type ShiftNow } from '@/till/api/types'
import { moneyCalls, type OpenCall } from '@/till/lib/money/money-calls'
import { reasonOf } from '@/till/lib/page/explain'
import { useSession } from '@/till/lib/session/session'
import { useConnected } from '@/till/lib/session/use-connected'

/** The server's sentence for a till whose shift was closed, for example in another tab. */
const NO_SHIFT = 'shift belum dibuka'

export interface Money<T> {
  pending: boolean
  /** The reason of the last refusal. */
  fault: string
  /** The call that was sent and whose outcome is unknown. */
  unanswered: OpenCall | null
  send: (what: string, request: MoneyRequest<T>, izin?: string) => void
  again: () => void
}

interface Outcome<T> {
  onDone: (answer: T, request: MoneyRequest<T>) => void
  /** Returns true where it handles the refusal itself. */
  onRefused?: (error: ApiError) => unknown
}

/** One call about `subject` at a time, from the touch to its decided answer, even across a reload. */
export function useMoney<T>(subject: string, { onDone, onRefused }: Outcome<T>): Money<T> {
  const who = useSession(({ session }) => session?.petugas.id)
  const open = useMyOpenCalls().find((one) => one.subject === subject) ?? null
  const refused = useShiftGone()
  const [fault, setFault] = useState('')

  const { pending, submit } = useSubmit(async (request: MoneyRequest<T>, call: () => Promise<T>) => {
    setFault('')
    try {
      onDone(await call(), request)
    } catch (cause) {
      const error = asApiError(cause)
      setFault(reasonOf(error))
      if (moneyCalls.openOf(subject, who)) return
      refused(error)
      if (onRefused?.(error) === true) setFault('')
    }
  })
  const again = () => {
    if (open) submit(open.request as MoneyRequest<T>, () => moneyCalls.again(open) as Promise<T>)
  }
  const unanswered = open && !pending ? open : null
  useAskAgain(unanswered !== null, again)
  return {
    pending,
    fault,
    unanswered,
    send: (what, request, izin) => {
      if (who !== undefined) submit(request, () => moneyCalls.run({ subject, what, request, izin, who }))
    },
    again,
  }
}

/** The unanswered calls of the current member of staff. */
export function useMyOpenCalls(): OpenCall[] {
  const who = useSession(({ session }) => session?.petugas.id)
  const all = useSyncExternalStore(subscribe, moneyCalls.open)
  return all.filter((one) => one.who === who)
}

function subscribe(listener: () => void): () => void {
  const forget = moneyCalls.subscribe(listener)
  window.addEventListener('storage', moneyCalls.look)
  return () => {
    forget()
    window.removeEventListener('storage', moneyCalls.look)
  }
}

/** Marks a shift that another tab closed as closed on this page too, before the next request. */
function useShiftGone(): (error: ApiError) => void {
  const client = useQueryClient()
  return ({ status, message }) => {
    if (status !== 409 || message !== NO_SHIFT) return
    client.setQueryData<ShiftNow>(keys.shift, NO_SHIFT_NOW)
    void client.invalidateQueries({ queryKey: keys.shift })
  }
}

/** Repeats once at the start, and each time that the connection is back. */
function useAskAgain(wanted: boolean, ask: () => void): void {
  const connected = useConnected()
  const lookAgain = useEffectEvent(() => {
    if (wanted) ask()
  })
  useEffect(() => {
    if (connected) lookAgain()
  }, [connected])
}
