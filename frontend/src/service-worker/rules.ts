/** Addresses the server answers itself: data, realtime, its own pages and the till. `/scanPage` is not `/scan/`. */
export const SERVERS_OWN =
  /^\/(scan|socket\.io|ops|kasir|dev|docs|pindah|\.well-known|openapi\.json|healthz|readyz|metrics)(\/|\?|$)/

/** The content of a push message (docs/contract.md). */
export interface PushMessage {
  /** What happened, and where. */
  judul: string
  isi: string
  /** The screen that shows more. */
  tuju: string
  /** The same for all pushes of one purchase: a later one replaces an earlier one. */
  tanda: string
}

/** Parses a push message; null for an invalid one. */
export function readPush(text: string | undefined): PushMessage | null {
  try {
    const message: unknown = JSON.parse(text ?? '')
    return isPushMessage(message) ? message : null
  } catch {
    return null
  }
}

/** An alert to a member of staff (docs/board.md). */
export interface AlertMessage extends PushMessage {
  /** The secret that takes the entry, once, from this browser; null when there is nothing to take. */
  tangani: string | null
}

/** Parses an alert; null for an invalid one, and for one that leads out of the till. */
export function readAlert(text: string | undefined): AlertMessage | null {
  const message = readPush(text)
  if (!message || !TILL.test(message.tuju)) return null
  const { tangani } = message as Partial<AlertMessage>
  return { ...message, tangani: typeof tangani === 'string' ? tangani : null }
}

/** The till's screens. */
export const TILL = /^\/kasir(\/|\?|$)/

const FIELDS = ['judul', 'isi', 'tuju', 'tanda'] as const

const isPushMessage = (value: unknown): value is PushMessage =>
  typeof value === 'object' &&
  value !== null &&
  FIELDS.every((field) => typeof (value as Record<string, unknown>)[field] === 'string') &&
  // The target must be a screen of ours.
  /^\/(?![\\/])/.test((value as PushMessage).tuju)
