import { type ApiError, asApiError } from '@/shared/api/error'
import type { TopUpBody, TopUpMade } from '@/till/api/types'

/** The customer and the receipt's content: by then the screen may show another customer. */
export interface TopUpOf {
  /** The customer's name as the till shows it. */
  nama: string
  /** The typed number; null for a scanned code. WhatsApp needs it. */
  typed: string | null
  /** Rupiah the balance gains. */
  gained: number
}

/** A top-up that was sent, or is about to be, and has no decided answer. */
export interface OpenTopUp extends TopUpOf {
  key: string
  body: TopUpBody
  who: { id: number; nama: string }
  /** Time of the first attempt, epoch ms. */
  at: number
}

/** The state of the current member of staff's top-up. */
export type TopUpState =
  | { is: 'free' }
  /** The request is in flight. */
  | { is: 'asking'; open: OpenTopUp; asked: number }
  /** The request was not answered: a timer repeats it. */
  | { is: 'waiting'; open: OpenTopUp; asked: number }
  /** All repeats went unanswered: it waits for the connection, for a touch, or for the next login. */
  | { is: 'unknown'; open: OpenTopUp }
  | { is: 'made'; open: OpenTopUp; made: TopUpMade }
  | { is: 'refused'; open: OpenTopUp; error: ApiError }

export interface Outside {
  send: (key: string, body: TopUpBody, izin?: string) => Promise<TopUpMade>
  /** Survives the page. */
  store: {
    all: () => OpenTopUp[]
    put: (open: OpenTopUp) => void
    remove: (key: string) => void
  }
  newKey: () => string
}

/** Pauses before each repeat, ms. After the last one, only the connection or a person triggers a repeat. */
export const PAUSES_MS = [1_000, 2_000, 4_000, 8_000, 15_000, 30_000]

/**
 * Handles one top-up at a time, from the touch to its decided answer. It stores the top-up before sending it, and repeats it with the
 * same key until a decision arrives. So money is neither lost nor moved twice, whatever the connection does.
 */
export class TopUpMachine {
  state: TopUpState = { is: 'free' }
  private who: OpenTopUp['who'] | null = null
  private timer: ReturnType<typeof setTimeout> | undefined
  private readonly listeners = new Set<() => void>()
  private readonly outside: Outside

  constructor(outside: Outside) {
    this.outside = outside
  }

  readonly subscribe = (listener: () => void): (() => void) => {
    this.listeners.add(listener)
    return () => this.listeners.delete(listener)
  }

  /** Sends a top-up, unless another one of the same member of staff is open: then that one is repeated. */
  start(body: TopUpBody, of: TopUpOf, now = Date.now()): void {
    if (!this.who || this.takeUp()) return
    const open = { ...of, key: this.outside.newKey(), body, who: this.who, at: now }
    this.outside.store.put(open)
    void this.ask(open, { asked: 0, maybeMade: false })
  }

  /** Sends the refused top-up again, with its key and a supervisor's approval. */
  approve(izin: string): void {
    if (this.state.is !== 'refused') return
    const { open } = this.state
    this.outside.store.put(open)
    void this.ask(open, { asked: 0, maybeMade: false, izin })
  }

  /** Repeats the open top-up: the connection is back, or a person asks. */
  again(): void {
    if (this.state.is !== 'waiting' && this.state.is !== 'unknown') return
    if (this.state.open.who.id !== this.who?.id) return
    void this.ask(this.state.open, { asked: 0, maybeMade: true })
  }

  /**
   * Sets the current member of staff; null after a logout. A top-up that they left open is repeated; results of other members of staff
   * are hidden.
   */
  enter(who: OpenTopUp['who'] | null): void {
    this.who = who
    if (this.state.is === 'waiting' && this.state.open.who.id !== who?.id) {
      clearTimeout(this.timer)
      this.set({ is: 'unknown', open: this.state.open })
    }
    if (!who) return
    if (this.state.is === 'refused' || (this.state.is !== 'free' && this.state.open.who.id !== who.id)) {
      this.set({ is: 'free' })
    }
    if (this.state.is === 'unknown') this.again()
    else this.takeUp()
  }

  /** The result was seen. */
  done(): void {
    if (this.state.is === 'made' || this.state.is === 'refused') this.set({ is: 'free' })
  }

  /** Repeats a top-up that the current member of staff left open, in this tab or another. */
  private takeUp(): boolean {
    if (this.state.is === 'asking' || this.state.is === 'waiting' || this.state.is === 'unknown') return true
    const mine = this.outside.store.all().find(({ who }) => who.id === this.who?.id)
    if (mine) void this.ask(mine, { asked: 0, maybeMade: true })
    return mine !== undefined
  }

  private async ask(
    open: OpenTopUp,
    how: { asked: number; maybeMade: boolean; izin?: string },
  ): Promise<void> {
    clearTimeout(this.timer)
    const asked = how.asked + 1
    this.set({ is: 'asking', open, asked })
    try {
      const made = await this.outside.send(open.key, open.body, how.izin)
      this.decided({ is: 'made', open, made })
    } catch (cause) {
      const error = asApiError(cause)
      if (isDecided(error, how.maybeMade)) return this.decided({ is: 'refused', open, error })
      this.unanswered(open, { ...how, asked, maybeMade: true }, error)
    }
  }

  private decided(state: Extract<TopUpState, { is: 'made' | 'refused' }>): void {
    this.outside.store.remove(state.open.key)
    if (this.isCurrent(state.open)) this.set(state)
    else this.tell()
  }

  private unanswered(
    open: OpenTopUp,
    how: { asked: number; maybeMade: true; izin?: string },
    error: ApiError,
  ): void {
    if (!this.isCurrent(open)) return
    const pause_ms = PAUSES_MS[how.asked - 1]
    if (pause_ms === undefined || error.status === 401 || this.who?.id !== open.who.id) {
      this.set({ is: 'unknown', open })
      return
    }
    this.set({ is: 'waiting', open, asked: how.asked })
    this.timer = setTimeout(() => void this.ask(open, how), Math.max(pause_ms, error.retry_after_ms ?? 0))
  }

  private isCurrent({ key }: OpenTopUp): boolean {
    return this.state.is !== 'free' && this.state.open.key === key
  }

  private set(state: TopUpState): void {
    this.state = state
    this.tell()
  }

  private tell(): void {
    for (const listener of this.listeners) listener()
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
