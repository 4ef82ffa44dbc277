import type { ApiError } from '@/shared/api/error'
import { isDecided, type Schedule, untilDecided } from '@/shared/lib/net/until-decided'
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

export interface TopUpOutside {
  send: (key: string, body: TopUpBody, izin?: string) => Promise<TopUpMade>
  /** Survives the page. */
  store: {
    all: () => OpenTopUp[]
    put: (open: OpenTopUp) => void
    remove: (key: string) => void
  }
  newKey: () => string
}

/** After the last pause, only the connection or a person triggers a repeat. */
export const SCHEDULE: Schedule = { pauses_ms: [1_000, 2_000, 4_000, 8_000, 15_000, 30_000], after: 'stop' }

/**
 * Handles one top-up at a time, from the touch to its decided answer. It stores the top-up before sending it, and repeats it with the
 * same key until a decision arrives. So money is neither lost nor moved twice, whatever the connection does.
 */
export class TopUpMachine {
  state: TopUpState = { is: 'free' }
  private who: OpenTopUp['who'] | null = null
  /** Counts the rounds of attempts: a new one ends the repeats of the one before. */
  private round = 0
  private timer: ReturnType<typeof setTimeout> | undefined
  private readonly listeners = new Set<() => void>()
  private readonly outside: TopUpOutside

  constructor(outside: TopUpOutside) {
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
    void this.ask(open, { maybeMade: false })
  }

  /** Sends the refused top-up again, with its key and a supervisor's approval. */
  approve(izin: string): void {
    if (this.state.is !== 'refused') return
    const { open } = this.state
    this.outside.store.put(open)
    void this.ask(open, { maybeMade: false, izin })
  }

  /** Repeats the open top-up: the connection is back, or a person asks. */
  again(): void {
    if (this.state.is !== 'waiting' && this.state.is !== 'unknown') return
    if (this.state.open.who.id !== this.who?.id) return
    void this.ask(this.state.open, { maybeMade: true })
  }

  /**
   * Sets the current member of staff; null after a logout. A top-up that they left open is repeated; results of other members of staff
   * are hidden.
   */
  enter(who: OpenTopUp['who'] | null): void {
    this.who = who
    if (this.state.is === 'waiting' && this.state.open.who.id !== who?.id) {
      this.stopRepeats()
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
    if (mine) void this.ask(mine, { maybeMade: true })
    return mine !== undefined
  }

  private stopRepeats(): void {
    this.round += 1
    clearTimeout(this.timer)
  }

  private async ask(open: OpenTopUp, how: { maybeMade: boolean; izin?: string }): Promise<void> {
    this.stopRepeats()
    const { round } = this
    const decision = await untilDecided({
      send: (asked) => {
        this.set({ is: 'asking', open, asked })
        return this.outside.send(open.key, open.body, how.izin)
      },
      maybeMade: how.maybeMade,
      isDecided,
      schedule: SCHEDULE,
      wait: (pause_ms, error, asked) => {
        const mayRepeat = round === this.round && this.isCurrent(open) && this.who?.id === open.who.id
        if (!mayRepeat || error.status === 401) return Promise.resolve(false)
        this.set({ is: 'waiting', open, asked })
        return new Promise((resolve) => {
          this.timer = setTimeout(() => resolve(true), pause_ms)
        })
      },
    })
    if (decision.is === 'answered') return this.decided({ is: 'made', open, made: decision.answer })
    if (decision.is === 'refused') return this.decided({ is: 'refused', open, error: decision.error })
    if (round === this.round && this.isCurrent(open)) this.set({ is: 'unknown', open })
  }

  private decided(state: Extract<TopUpState, { is: 'made' | 'refused' }>): void {
    this.outside.store.remove(state.open.key)
    if (this.isCurrent(state.open)) this.set(state)
    else this.notify()
  }

  private isCurrent({ key }: OpenTopUp): boolean {
    return this.state.is !== 'free' && this.state.open.key === key
  }

  private set(state: TopUpState): void {
    this.state = state
    this.notify()
  }

  private notify(): void {
    for (const listener of this.listeners) listener()
  }
}
