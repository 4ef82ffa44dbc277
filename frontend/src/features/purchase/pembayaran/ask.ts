import type { ApiError } from '@/shared/api/error'
import { type Schedule, untilDecided } from '@/shared/lib/net/until-decided'

const SCHEDULE: Schedule = { pauses_ms: [1_000, 2_000, 3_000, 5_000, 8_000, 10_000, 15_000], after: 'repeat' }
/** Upper limit for a `Retry-After`: the customer waits at the machine. */
const LONGEST_PAUSE_MS = 60_000
/** The server voids an unsure purchase within fifteen minutes: by then it has an answer, or there is no network. */
const GIVE_UP_MS = 20 * 60_000

/** Statuses of docs/contract.md §1 with which the server has decided: a repeat of this receipt gets the same answer. */
const DECIDED = [404, 409, 422]

/** The outcome of a purchase. */
export type Outcome =
  | { kind: 'started' }
  /** The server refused it. `first`: in its answer to the only attempt. */
  | { kind: 'refused'; error: ApiError; first: boolean }
  /** The server accepted the only attempt, and its outcome is still open. */
  | { kind: 'open'; error: ApiError }
  /** The outcome is unknown: the customer has left, or the time limit has passed. */
  | { kind: 'unknown' }

interface Ask {
  send: () => Promise<unknown>
  /** An earlier attempt may have reached the server, so that only its decision is certain about the money. */
  repeat: boolean
  /** The customer has left: nothing more is sent, so that nothing is bought behind their back. */
  left: () => boolean
  /** Called before each repeat. */
  onAgain: () => void
  /** Resolves after the pause; with `early`, also as soon as the network is back. */
  wait: (pause_ms: number, early: boolean) => Promise<void>
}

/**
 * Sends one receipt number until the server has decided. The first attempt ends with any answer of the server. Once an attempt went
 * unanswered, only a decision ends it, not other answers (429, 401, 5xx, a proxy's page).
 */
export async function askUntilDecided({ send, repeat, left, onAgain, wait }: Ask): Promise<Outcome> {
  let waited_ms = 0
  const decision = await untilDecided({
    send,
    maybeMade: repeat,
    isDecided: (error, maybeMade) => decided(error) || (!maybeMade && answered(error)),
    schedule: SCHEDULE,
    longest_ms: LONGEST_PAUSE_MS,
    async wait(pause_ms, error) {
      waited_ms += pause_ms
      if (left() || waited_ms > GIVE_UP_MS) return false
      onAgain()
      await wait(pause_ms, error.retry_after_ms === null)
      return !left()
    },
  })
  if (decision.is === 'answered') return { kind: 'started' }
  if (decision.is === 'open') return { kind: 'unknown' }
  const { error, first } = decision
  return { kind: decided(error) || error.status < 500 ? 'refused' : 'open', error, first }
}

/** The server's own refusal has a sentence; a proxy's page has none. */
const decided = ({ status, message }: ApiError) => DECIDED.includes(status) && message !== ''

/** The server answered this attempt itself. A 503 with `Retry-After` asks for a repeat, so it does not count. */
function answered({ status, message, retry_after_ms }: ApiError): boolean {
  return message !== '' && !(status === 503 && retry_after_ms !== null)
}
