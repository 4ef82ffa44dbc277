import { useRef, useState } from 'react'
import { type ApiError, asApiError } from '@/shared/api/error'
import { useSubmit } from '@/shared/lib/form/use-submit'
import { pause } from '@/shared/lib/net/pause'
import { isDecided, type Schedule, untilDecided } from '@/shared/lib/net/until-decided'
import { newCallKey } from '@/till/lib/money/call-key'
import { reasonOf } from '@/till/lib/page/explain'
import { kelola } from './kelola-copy'

const SCHEDULE: Schedule = { pauses_ms: [1_000, 2_000, 4_000], after: 'stop' }

/** `maybeMade`: an attempt before this one may have reached the server. A call without keys must look first whether it did. */
type Send<T> = (key: string, maybeMade: boolean) => Promise<T>

interface Outcome<T> {
  /** The key of what was sent before a lock or a reload, and has no answer. */
  openKey?: string | undefined
  /** Keeps the key while the outcome is unknown; undefined once it is known. */
  onKey?: (key: string | undefined) => void
  onDone: (answer: T) => void
  /** `first`: no attempt before it may have reached the server. Returns true where it handles the refusal itself. */
  onRefused?: (error: ApiError, first: boolean) => boolean
}

export interface Saving<T> {
  pending: boolean
  /** The reason of the last refusal, or that the answer is missing. */
  fault: string
  /** The outcome of what was sent is unknown: it may be sent again, and nothing else. */
  open: boolean
  save: (send: Send<T>) => void
  /** Sends the same again by the same key; after a lock or a reload, `send` is the same. */
  again: (send: Send<T>) => void
}

/**
 * Saves a form until the server has decided. Without an answer the form keeps what was typed, and only the same is sent again: something
 * else could add a second service.
 */
export function useSave<T>({ openKey, onKey, onDone, onRefused }: Outcome<T>): Saving<T> {
  const [fault, setFault] = useState(openKey ? kelola.open : '')
  const [open, setOpen] = useState(openKey !== undefined)
  const sent = useRef<{ key: string; send: Send<T> }>(null)
  const { pending, submit } = useSubmit(async (maybeMade: boolean) => {
    const call = sent.current
    if (!call) return
    setFault('')
    onKey?.(call.key)
    const decision = await untilDecided({
      send: (attempt) => call.send(call.key, maybeMade || attempt > 1),
      maybeMade,
      isDecided,
      schedule: SCHEDULE,
      wait: async (pause_ms) => {
        setFault(kelola.sending)
        await pause(pause_ms)
        return true
      },
    })
    setOpen(decision.is === 'open')
    if (decision.is === 'open') return setFault(kelola.open)
    setFault('')
    onKey?.(undefined)
    if (decision.is === 'answered') return onDone(decision.answer)
    const error = asApiError(decision.error)
    if (onRefused?.(error, decision.first) !== true) setFault(reasonOf(error))
  })
  return {
    pending,
    fault,
    open,
    save(send) {
      sent.current = { key: newCallKey(), send }
      submit(false)
    },
    again(send) {
      if (openKey) sent.current ??= { key: openKey, send }
      submit(true)
    },
  }
}
