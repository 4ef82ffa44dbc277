import { ApiError, asApiError } from '@/shared/api/error'
import { isDecided } from '@/shared/lib/net/until-decided'
import { isRecord, keysOf, slot } from '@/shared/lib/session/storage'
import { type MoneyRequest, sendMoney } from '@/till/api/calls'
import { SESSION_OVER } from '@/till/api/client'
import { newCallKey } from '@/till/lib/money/call-key'

/** A call that was sent, or is about to be, and has no decided answer. */
export interface OpenCall {
  key: string
  /** The object of the call: while the call is open, no other call about it is offered. */
  subject: string
  /** A sentence for the member of staff who asks for the outcome: `Refund Rp 8.000 untuk Siti R.` */
  what: string
  request: MoneyRequest<unknown>
  izin?: string
  /** The sender: only they may use the key again. */
  who: number
  /** Time of the first attempt, epoch ms. */
  at: number
}

export interface MoneyCallsOutside {
  send: (key: string, request: MoneyRequest<unknown>, izin?: string) => Promise<unknown>
  /** Survives the page, except for calls that contain a PIN. */
  store: { all: () => OpenCall[]; put: (open: OpenCall) => void; remove: (key: string) => void }
  newKey: () => string
}

/**
 * The till's calls that move money, except top-ups (lib/top-up-machine.ts). Each intent has one key, which is kept until the server's
 * decision arrives: a double tap, a repeat and a reload send it once.
 */
export class MoneyCalls {
  private readonly listeners = new Set<() => void>()
  private readonly onTheirWay = new Map<string, Promise<unknown>>()
  private readonly outside: MoneyCallsOutside
  /** The last read list: the same array until something changes. */
  private known: OpenCall[]

  constructor(outside: MoneyCallsOutside) {
    this.outside = outside
    this.known = outside.store.all()
  }

  readonly subscribe = (listener: () => void): (() => void) => {
    this.listeners.add(listener)
    return () => this.listeners.delete(listener)
  }

  readonly open = (): OpenCall[] => this.known

  /** Reads the store again: another tab may have changed the open calls. */
  readonly look = (): void => {
    this.known = this.outside.store.all()
    for (const listener of this.listeners) listener()
  }

  /** The open call of `who` about a subject; it is repeated instead of a new one. */
  openOf(subject: string, who: number | undefined): OpenCall | undefined {
    return this.known.find((one) => one.subject === subject && one.who === who)
  }

  async run<T>(call: {
    subject: string
    what: string
    request: MoneyRequest<T>
    izin?: string | undefined
    who: number
    now?: number
  }): Promise<T> {
    const { subject, what, request, izin, who, now = Date.now() } = call
    const before = this.openOf(subject, who)
    // The earlier call is from another tab: this one offers no other call in the meantime.
    if (before && !isSame(before.request, request)) throw new ApiError(409, EARLIER_IS_OPEN)
    const { key, at } = before ?? { key: this.outside.newKey(), at: now }
    const open: OpenCall = { key, subject, what, request, ...(izin !== undefined && { izin }), who, at }
    return this.ask(open, before !== undefined) as Promise<T>
  }

  /** Asks for the outcome of a call. While it is in flight, further callers get the same answer. */
  async again(open: OpenCall): Promise<unknown> {
    return this.ask(open, true)
  }

  private ask(open: OpenCall, maybeMade: boolean): Promise<unknown> {
    const asked = this.onTheirWay.get(open.key)
    if (asked) return asked
    this.outside.store.put(open)
    this.look()
    const answer = this.send(open, maybeMade).finally(() => {
      this.onTheirWay.delete(open.key)
      this.look()
    })
    this.onTheirWay.set(open.key, answer)
    return answer
  }

  private async send(open: OpenCall, maybeMade: boolean): Promise<unknown> {
    try {
      const answer = await this.outside.send(open.key, open.request, open.izin)
      this.outside.store.remove(open.key)
      return answer
    } catch (cause) {
      const error = asApiError(cause)
      // The server checked the PIN, so the session still exists: a completed handover would have ended it.
      const pinWasWrong = open.request.pin && error.status === 401 && error.message !== SESSION_OVER
      if (pinWasWrong || isDecided(error, maybeMade)) this.outside.store.remove(open.key)
      throw error
    }
  }
}

const EARLIER_IS_OPEN = 'yang sebelumnya belum terjawab'

const isSame = (one: MoneyRequest<unknown>, other: MoneyRequest<unknown>) =>
  one.path === other.path && JSON.stringify(one.body) === JSON.stringify(other.body)

const PREFIX = 'nyala.kasir.call.'

/** The server drops a key after thirty days: a later repeat would be another call. */
const KEPT_MS = 14 * 24 * 3_600_000

const place = (key: string) =>
  slot<OpenCall>(
    'local',
    PREFIX + key,
    (value): value is OpenCall =>
      isRecord(value) &&
      value.key === key &&
      typeof value.subject === 'string' &&
      typeof value.what === 'string' &&
      typeof value.who === 'number' &&
      typeof value.at === 'number' &&
      isRecord(value.request) &&
      typeof value.request.path === 'string' &&
      isRecord(value.request.body),
  )

const withPins = new Map<string, OpenCall>()

export const openCalls = {
  /** The open calls, oldest first. */
  all(now = Date.now()): OpenCall[] {
    const stored = keysOf('local', PREFIX).flatMap((key) => {
      const at = place(key.slice(PREFIX.length))
      const open = at.read()
      if (open && Math.abs(now - open.at) < KEPT_MS) return [open]
      at.clear()
      return []
    })
    return [...stored, ...withPins.values()].sort((a, b) => a.at - b.at)
  },
  put(open: OpenCall): void {
    if (open.request.pin) withPins.set(open.key, open)
    else place(open.key).write(open)
  },
  remove(key: string): void {
    withPins.delete(key)
    place(key).clear()
  },
}

/** The till's calls of this tab. */
export const moneyCalls = new MoneyCalls({ send: sendMoney, store: openCalls, newKey: newCallKey })
