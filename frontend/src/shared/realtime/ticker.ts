import { serverNow } from '@/shared/realtime/clock'

interface Watch {
  ends_at: number
  /** Whole seconds left at the last notification. */
  shown: number
  notify: () => void
}

const watches = new Set<Watch>()
let timer: ReturnType<typeof setTimeout> | undefined

/** Whole seconds left until a deadline (epoch ms of the server), rounded up; 0 from the deadline on. */
export function secondsLeft(ends_at: number, now = serverNow()): number {
  return Math.max(0, Math.ceil((ends_at - now) / 1000))
}

/** Milliseconds from `now` until the number of whole seconds left changes next; null after the end. */
export function untilNextSecond(ends_at: number, now: number): number | null {
  const left = ends_at - now
  if (left <= 0) return null
  return left % 1000 || 1000
}

function wake(): void {
  clearTimeout(timer)
  timer = undefined
  const now = serverNow()
  let next: number | null = null
  for (const watch of watches) {
    const seconds = secondsLeft(watch.ends_at, now)
    if (seconds !== watch.shown) {
      watch.shown = seconds
      watch.notify()
    }
    const wait = untilNextSecond(watch.ends_at, now)
    if (wait !== null) next = next === null ? wait : Math.min(next, wait)
  }
  // A hidden page renders nothing, so the timer stops; it restarts when the page becomes visible.
  if (next !== null && document.visibilityState === 'visible') timer = setTimeout(wake, next + 1)
}

/**
 * One timer for all countdowns: it fires when the second of any card changes, and only that card is notified. The shown time is always
 * computed from the deadline, so a late timer never shows a wrong time.
 */
export function watchSeconds(ends_at: number, notify: () => void): () => void {
  const watch: Watch = { ends_at, shown: secondsLeft(ends_at), notify }
  if (watches.size === 0) for (const event of WAKERS) window.addEventListener(event, wake)
  watches.add(watch)
  wake()
  return () => {
    watches.delete(watch)
    if (watches.size > 0) return
    clearTimeout(timer)
    for (const event of WAKERS) window.removeEventListener(event, wake)
  }
}

// `visibilitychange` bubbles from the document to the window.
const WAKERS = ['visibilitychange', 'pageshow', 'online', 'focus'] as const

/** Renders at once, e.g. when the offset to the server's clock has become more exact. */
export const wakeTicker = wake
