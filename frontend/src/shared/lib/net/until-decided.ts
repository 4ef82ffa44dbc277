import { type ApiError, asApiError } from '@/shared/api/error'
import { whileOverloaded } from '@/shared/lib/net/until-admitted'

/** Pauses before each repeat, in milliseconds, and whether the last one repeats or ends the repeats. */
export interface Schedule {
  pauses_ms: readonly number[]
  after: 'repeat' | 'stop'
}

/** The pause before the repeat of this number (0: the first), or null when there is no further one. */
export function pauseBefore({ pauses_ms, after }: Schedule, repeat: number): number | null {
  return pauses_ms[after === 'repeat' ? Math.min(repeat, pauses_ms.length - 1) : repeat] ?? null
}

interface Call<T> {
  /** One attempt; `attempt` counts from 1. Each has the same key, so that the server decides once. */
  send: (attempt: number) => Promise<T>
  /** An earlier attempt may have reached the server. */
  maybeMade: boolean
  /** Whether this error decides the call. `maybeMade`: an attempt before it may have reached the server. */
  isDecided: (error: ApiError, maybeMade: boolean) => boolean
  schedule: Schedule
  /** Upper limit for the server's `Retry-After`, in milliseconds. */
  longest_ms?: number
  /** Waits before the next attempt; false ends the attempts. */
  wait: (pause_ms: number, error: ApiError, attempt: number) => Promise<boolean>
}

export type Decision<T> =
  | { is: 'answered'; answer: T }
  /** `first`: no attempt before it may have reached the server. */
  | { is: 'refused'; error: ApiError; first: boolean }
  /** The attempts ended without a decision: the call may have been made. */
  | { is: 'open' }

/** Sends a call until the server has decided it, the schedule ends, or the caller does. */
export async function untilDecided<T>(call: Call<T>): Promise<Decision<T>> {
  let { maybeMade } = call
  for (let attempt = 1; ; attempt++) {
    try {
      return { is: 'answered', answer: await call.send(attempt) }
    } catch (failure) {
      const error = asApiError(failure)
      if (call.isDecided(error, maybeMade)) return { is: 'refused', error, first: !maybeMade }
      if (!error.overloaded) maybeMade = true
      const own_ms = pauseBefore(call.schedule, attempt - 1)
      if (own_ms === null) return { is: 'open' }
      const asked_ms = Math.min(error.retry_after_ms ?? 0, call.longest_ms ?? Number.POSITIVE_INFINITY)
      const pause_ms = Math.max(own_ms, asked_ms)
      if (!(await whileOverloaded(error, () => call.wait(pause_ms, error, attempt)))) return { is: 'open' }
    }
  }
}

/**
 * Whether an answer decides a call that moves money. A 401 or 429 refuses a call before the server looks at it: this decides a call that
 * was never sent before, and leaves an earlier attempt undecided.
 */
export function isDecided({ status, unanswered }: ApiError, maybeMade: boolean): boolean {
  if (unanswered || status >= 500 || status === 408) return false
  return !(maybeMade && (status === 401 || status === 429))
}
