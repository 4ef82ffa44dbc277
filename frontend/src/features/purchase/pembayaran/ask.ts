import { type ApiError, asApiError } from '@/shared/api/error'

/** Pauses before each further question; the last one stays. */
const PAUSES_MS = [1_000, 2_000, 3_000, 5_000, 8_000, 10_000, 15_000]
/** A `Retry-After` beyond this is asked sooner all the same: the customer stands at the machine. */
const LONGEST_PAUSE_MS = 60_000
/** The server gives an unsure purchase back within fifteen minutes: by then it has an answer, or there is no network. */
const GIVE_UP_MS = 20 * 60_000

/** Of the table of docs/contract.md §1: the server has decided, and a repeat of this receipt hears the same. */
const DECIDED = [404, 409, 422]

/** What came of a purchase. */
export type Outcome =
  | { kind: 'started' }
  /** Decided against it. `first`: by the answer to the only try there was. */
  | { kind: 'refused'; error: ApiError; first: boolean }
  /** The server took the only try, and nobody can say yet whether it will come to something. */
  | { kind: 'open'; error: ApiError }
  /** Nothing is known: the customer has left, or it was asked for long enough. */
  | { kind: 'unknown' }

interface Ask {
  send: () => Promise<unknown>
  /** An earlier try may have reached the server, so that only its decision says anything about the money. */
  repeat: boolean
  /** The customer has left: nothing is asked, and so nothing bought, behind their back. */
  left: () => boolean
  /** Before it is asked again. */
  onAgain: () => void
  /** Resolves after the pause; `early`: or as soon as the network is back. */
  wait: (pause_ms: number, early: boolean) => Promise<void>
}

/**
 * Asks by one receipt number until the server has decided. The first try ends with whatever the server answers; once
 * one went unanswered, only a decision does, whatever else is heard (429, 401, 5xx, a proxy's page).
 */
export async function askUntilDecided({ send, repeat, left, onAgain, wait }: Ask): Promise<Outcome> {
  let first = !repeat
  let waited_ms = 0
  for (let tries = 0; ; tries++) {
    try {
      await send()
      return { kind: 'started' }
    } catch (failure) {
      const error = asApiError(failure)
      if (decided(error)) return { kind: 'refused', error, first }
      if (first && told(error)) return { kind: error.status < 500 ? 'refused' : 'open', error, first }
      first = false
      const pause_ms = pauseAfter(error, tries)
      waited_ms += pause_ms
      if (left() || waited_ms > GIVE_UP_MS) return { kind: 'unknown' }
      onAgain()
      await wait(pause_ms, error.retry_after_ms === null)
      if (left()) return { kind: 'unknown' }
    }
  }
}

/** A refusal of the server itself has its sentence; a proxy's page has none. */
const decided = ({ status, message }: ApiError) => DECIDED.includes(status) && message !== ''

/** The server took this try and said so. A 503 that names a time asks to be asked again, and so it is. */
function told({ status, message, retry_after_ms }: ApiError): boolean {
  return message !== '' && !(status === 503 && retry_after_ms !== null)
}

function pauseAfter({ retry_after_ms }: ApiError, tries: number): number {
  const own = PAUSES_MS[Math.min(tries, PAUSES_MS.length - 1)] ?? LONGEST_PAUSE_MS
  return Math.max(own, Math.min(retry_after_ms ?? 0, LONGEST_PAUSE_MS))
}
