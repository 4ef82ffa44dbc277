import { type ApiError, asApiError } from '@/shared/api/error'
import type { TopUpBody, TopUpMade } from '@/till/api/types'

/** For whom it is, and what the receipt says of it: what stands on the screen by then may be somebody else's. */
export interface TopUpOf {
  /** The customer's name as the till shows it. */
  nama: string
  /** The number as it was typed; null for a scanned code. WhatsApp needs it. */
  typed: string | null
  /** Rupiah the balance gains. */
  gained: number
}

/** A top-up that was sent, or is about to be, and has no decided answer. */
export interface OpenTopUp extends TopUpOf {
  key: string
  body: TopUpBody
  who: { id: number; nama: string }
  /** When it was first sent, epoch ms. */
  at: number
}

/** What became of the top-up that whoever is here has sent. */
export type TopUpState =
  | { is: 'free' }
  /** On its way. */
  | { is: 'asking'; open: OpenTopUp; asked: number }
  /** Nobody answered: it is asked again by itself. */
  | { is: 'waiting'; open: OpenTopUp; asked: number }
  /** Nobody answered, however often it was asked: it waits for the line, for somebody's touch, or for the next login. */
  | { is: 'unknown'; open: OpenTopUp }
  | { is: 'made'; open: OpenTopUp; made: TopUpMade }
  | { is: 'refused'; open: OpenTopUp; error: ApiError }

export interface Outside {
  send: (key: string, body: TopUpBody, izin?: string) => Promise<TopUpMade>
  /** Outlives the page. */
  store: {
    all: () => OpenTopUp[]
    put: (open: OpenTopUp) => void
    remove: (key: string) => void
  }
  newKey: () => string
}

/** Pauses before it is asked again, ms. After the last one it is left to the line and to people. */
export const PAUSES_MS = [1_000, 2_000, 4_000, 8_000, 15_000, 30_000]

/**
 * One top-up at a time, from the touch to its decided answer. It is stored before it is sent, and asked for by the same
 * key until somebody says what became of it: money is neither lost nor moved twice, whatever the line does.
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

  /** Sends one, unless another of the same person is open: then that one is asked for. */
  start(body: TopUpBody, of: TopUpOf, now = Date.now()): void {
    if (!this.who || this.takeUp()) return
    const open = { ...of, key: this.outside.newKey(), body, who: this.who, at: now }
    this.outside.store.put(open)
    void this.ask(open, { asked: 0, maybeMade: false })
  }

  /** The refused one once more, by its key, with a supervisor's approval. */
  approve(izin: string): void {
    if (this.state.is !== 'refused') return
    const { open } = this.state
    this.outside.store.put(open)
    void this.ask(open, { asked: 0, maybeMade: false, izin })
  }

  /** The line is back, or somebody wants to know. */
  again(): void {
    if (this.state.is !== 'waiting' && this.state.is !== 'unknown') return
    if (this.state.open.who.id !== this.who?.id) return
    void this.ask(this.state.open, { asked: 0, maybeMade: true })
  }

  /** Somebody logged in, or nobody is here any more. What they left open is asked for; nobody sees what others made. */
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

  /** What was made or refused has been seen. */
  done(): void {
    if (this.state.is === 'made' || this.state.is === 'refused') this.set({ is: 'free' })
  }

  /** Asks for one that whoever is here left open, in this tab or another. */
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
 * Whether an answer says what became of a call that moves money. Whoever is not let in, or has to wait, is refused before it is looked
 * at: that decides one that was never sent before, and says nothing about one that was.
 */
export function isDecided({ status, unanswered }: ApiError, maybeMade: boolean): boolean {
  if (unanswered || status >= 500 || status === 408) return false
  return !(maybeMade && (status === 401 || status === 429))
}
