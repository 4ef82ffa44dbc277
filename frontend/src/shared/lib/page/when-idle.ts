/** Milliseconds to wait where the browser cannot report an idle moment. */
const IDLE_FALLBACK_MS = 300

/** Resolves when the browser is idle. */
export function whenIdle(): Promise<void> {
  return new Promise((resolve) => {
    if ('requestIdleCallback' in window) window.requestIdleCallback(() => resolve())
    else setTimeout(resolve, IDLE_FALLBACK_MS)
  })
}
