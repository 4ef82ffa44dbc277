/**
 * Before each try, the longest again and again. The first, also after a line that held, only lets an answer through that
 * is on its way: a handover ends one session and brings another.
 */
const PAUSES_MS = [250, 1_000, 2_000, 4_000, 8_000, 15_000, 30_000]
/** A line that ends sooner did not hold. */
const HELD_MS = 5_000
/** So that not all tills come back at the same moment. */
const SPREAD = 0.25

export interface Outside {
  /** A way in, good once; rejects where there is none now. */
  ticket: () => Promise<string>
  /** Opens a line with it; the answer hangs up, and nothing is heard after that. */
  dial: (ticket: string, heard: { up: () => void; down: () => void }) => Promise<() => void>
  told: (up: boolean) => void
}

/**
 * Keeps a line open until it is stopped: each try has a ticket of its own, one is under way at a time. A line that goes
 * down is asked about soon, because the server hangs up when a session is over, and then refuses the ticket.
 */
export function holdLine({ ticket, dial, told }: Outside): { wake: () => void; stop: () => void } {
  let stopped = false
  let busy = false
  let tries = 0
  let timer: ReturnType<typeof setTimeout> | undefined
  let hangUp: (() => void) | null = null

  function later(): void {
    const pause_ms = PAUSES_MS[Math.min(tries, PAUSES_MS.length - 1)] ?? 0
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
      told(false)
      if (up_at !== null && Date.now() - up_at >= HELD_MS) tries = 0
      if (!busy) later()
    }
    const up = () => {
      if (ended || stopped) return
      up_at = Date.now()
      told(true)
    }
    try {
      const hang = await dial(await ticket(), { up, down })
      if (ended || stopped) hang()
      else hangUp = hang
    } catch {
      if (!stopped) told(false)
    }
    busy = false
    if (!stopped && !hangUp) later()
  }

  later()
  return {
    /** The device is back, or somebody looks: not the rest of the pause. */
    wake: () => void attempt(),
    stop() {
      stopped = true
      clearTimeout(timer)
      hangUp?.()
      hangUp = null
    },
  }
}
