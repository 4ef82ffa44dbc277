import { isRecord, keysOf, PRIVATE_PREFIX, type Slot, slot } from '@/shared/lib/storage'

/** Keys that begin so hold a password or a code. They are private, so they go with the session too. */
const SECRET_PREFIX = `${PRIVATE_PREFIX}secret.`

/** Nothing secret is kept for longer, whatever its place says. */
const LONGEST_MS = 10 * 60_000

interface Kept<T> {
  value: T
  /** Epoch ms. */
  until: number
}

const isKept = (value: unknown): value is Kept<unknown> =>
  isRecord(value) && typeof value.until === 'number' && 'value' in value

/** Also when the phone's clock was set back meanwhile. */
const isOver = ({ until }: Kept<unknown>, now: number) => until <= now || until > now + LONGEST_MS

/**
 * A place in this tab's storage for what is secret and has to outlive a reload, for `kept_ms`: whoever goes to
 * WhatsApp for a code may find the page reloaded by the phone. `now` is epoch ms.
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

function current(place: Slot<Kept<unknown>>, now: number): Kept<unknown> | null {
  const kept = place.read()
  if (kept && !isOver(kept, now)) return kept
  place.clear()
  return null
}

let timer: ReturnType<typeof setTimeout> | undefined

/** Takes away every secret whose time is over, and comes again when that of the next one is. */
export function forgetSecrets(now = Date.now()): void {
  clearTimeout(timer)
  const left = keysOf('session', SECRET_PREFIX)
    .map((key) => current(slot('session', key, isKept), now))
    .filter((kept) => kept !== null)
  if (left.length > 0) timer = setTimeout(forgetSecrets, Math.min(...left.map(({ until }) => until)) - now)
}

/** At start: secrets go in their time, also those of a page before this one, and those that a phone slept over. */
export function followSecrets(): void {
  forgetSecrets()
  for (const event of ['pageshow', 'visibilitychange']) {
    window.addEventListener(event, () => forgetSecrets())
  }
}
