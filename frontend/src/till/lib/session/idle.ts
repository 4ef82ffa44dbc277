/** Events that show that a person is at the till. */
const SIGNS = ['pointerdown', 'keydown', 'wheel'] as const

/**
 * Calls `onIdle` once the page was not touched for this time, even if the device slept in between. `touch` counts as a touch, for input
 * from another source.
 */
export function watchIdle(limit_ms: number, onIdle: () => void): { touch: () => void; stop: () => void } {
  let last = Date.now()
  let timer: ReturnType<typeof setTimeout> | undefined

  function stop(): void {
    clearTimeout(timer)
    for (const sign of SIGNS) window.removeEventListener(sign, touch, { capture: true })
    document.removeEventListener('visibilitychange', look)
  }
  function look(): void {
    clearTimeout(timer)
    const left_ms = last + limit_ms - Date.now()
    // A clock that was set back would extend the time.
    if (left_ms > 0 && left_ms <= limit_ms) {
      timer = setTimeout(look, left_ms)
      return
    }
    stop()
    onIdle()
  }
  /** A touch after the time is over, on a tablet that just woke up, comes too late. */
  function touch(): void {
    if (Date.now() - last < limit_ms) last = Date.now()
    else look()
  }

  for (const sign of SIGNS) window.addEventListener(sign, touch, { capture: true, passive: true })
  document.addEventListener('visibilitychange', look)
  look()
  return { touch, stop }
}
