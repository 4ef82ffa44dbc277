import { isRecord, keysOf, PRIVATE_PREFIX, type Slot, slot } from '@/shared/lib/session/storage'

/** Keys with this prefix hold a password or a code. They are private, so they are removed with the session too. */
const SECRET_PREFIX = `${PRIVATE_PREFIX}secret.`

/** Upper limit for keeping a secret, whatever its slot requests. */
const LONGEST_MS = 10 * 60_000

interface KeptSecret<T> {
  value: T
  /** Epoch ms. */
  until: number
}

const isKept = (value: unknown): value is KeptSecret<unknown> =>
  isRecord(value) && typeof value.until === 'number' && 'value' in value

/** A time too far in the future also counts as over: the phone's clock was set back. */
const isOver = ({ until }: KeptSecret<unknown>, now: number) => until <= now || until > now + LONGEST_MS

/**
 * A place in this tab's storage for a secret that must survive a reload, for `kept_ms`: while the customer looks up a code in WhatsApp,
 * the phone may reload the page. `now` is epoch ms.
 */
export function secretSlot<T>(
  name: string,
  valid: (value: unknown) => value is T,
  kept_ms = LONGEST_MS,
): { read: (now?: number) => T | null; write: (value: T, now?: number) => void; clear: () => void } {
  const place = slot('session', SECRET_PREFIX + name, isKept)
  return {
    read(now = Date.now()) {
      const kept = current(place, now)
      return kept && valid(kept.value) ? kept.value : null
    },
    write(value, now = Date.now()) {
      place.write({ value, until: now + kept_ms })
      forgetSecrets(now)
    },
    clear: place.clear,
  }
}

function current(place: Slot<KeptSecret<unknown>>, now: number): KeptSecret<unknown> | null {
  const kept = place.read()
  if (kept && !isOver(kept, now)) return kept
  place.clear()
  return null
}

let timer: ReturnType<typeof setTimeout> | undefined

/** Removes every expired secret, and schedules the next expiry. */
export function forgetSecrets(now = Date.now()): void {
  clearTimeout(timer)
  const left = keysOf('session', SECRET_PREFIX)
    .map((key) => current(slot('session', key, isKept), now))
    .filter((kept) => kept !== null)
  if (left.length > 0) timer = setTimeout(forgetSecrets, Math.min(...left.map(({ until }) => until)) - now)
}

/**
 * Starts the expiry of secrets; called once at the start. It covers those of an earlier page, and those that expired while the phone was
 * suspended.
 */
export function followSecrets(): void {
  forgetSecrets()
  for (const event of ['pageshow', 'visibilitychange']) {
    window.addEventListener(event, () => forgetSecrets())
  }
}
