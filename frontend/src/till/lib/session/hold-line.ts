import { pauseBefore, type Schedule } from '@/shared/lib/net/until-decided'

/**
 * Pauses before each attempt; the longest one repeats. The first one, also after a connection that held, only lets an answer in flight
 * arrive: a handover ends one session and starts another.
 */
const SCHEDULE: Schedule = { pauses_ms: [250, 1_000, 2_000, 4_000, 8_000, 15_000, 30_000], after: 'repeat' }
/** A connection that ends sooner did not hold. */
const HELD_MS = 5_000
/** Random share of a pause, so that not all tills reconnect at the same moment. */
const SPREAD = 0.25

export interface LineOutside {
  /** Requests a ticket, valid for one connection; rejects when the server gives none. */
  ticket: () => Promise<string>
  /** Opens a connection with the ticket; the returned function closes it, and no callback runs after that. */
  dial: (ticket: string, on: { up: () => void; down: () => void }) => Promise<() => void>
  onChange: (up: boolean) => void
}

/**
 * Keeps a connection open until it is stopped. Each attempt uses a separate ticket, and only one attempt runs at a time. After a lost
 * connection it soon requests a new ticket: the server closes connections when a session is over, and then refuses the ticket.
 */
export function holdLine({ ticket, dial, onChange }: LineOutside): { wake: () => void; stop: () => void } {
  let stopped = false
  let busy = false
  let tries = 0
  let timer: ReturnType<typeof setTimeout> | undefined
  let hangUp: (() => void) | null = null

  function later(): void {
    const pause_ms = pauseBefore(SCHEDULE, tries) ?? 0
    tries += 1
    clearTimeout(timer)
    timer = setTimeout(attempt, pause_ms * (1 + SPREAD * Math.random()))
  }

  async function attempt(): Promise<void> {
    if (stopped || busy || hangUp) return
    clearTimeout(timer)
    busy = true
    let ended = false
    let up_at: number | null = null
    const down = () => {
      if (ended || stopped) return
      ended = true
      hangUp?.()
      hangUp = null
      onChange(false)
      if (up_at !== null && Date.now() - up_at >= HELD_MS) tries = 0
      if (!busy) later()
    }
    const up = () => {
      if (ended || stopped) return
      up_at = Date.now()
      onChange(true)
    }
    try {
      const hang = await dial(await ticket(), { up, down })
      if (ended || stopped) hang()
      else hangUp = hang
    } catch {
      if (!stopped) onChange(false)
    }
    busy = false
    if (!stopped && !hangUp) later()
  }

  later()
  return {
    /** Skips the rest of the pause: the device is online again, or the page is visible. */
    wake: () => void attempt(),
    stop() {
      stopped = true
      clearTimeout(timer)
      hangUp?.()
      hangUp = null
    },
  }
}
