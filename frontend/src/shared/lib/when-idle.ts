/** Milliseconds to wait for an idle moment where the browser cannot tell one. */
const IDLE_FALLBACK_MS = 300

/** Resolves when the browser has nothing better to do. */
export function whenIdle(): Promise<void> {
  return new Promise((resolve) => {
    if ('requestIdleCallback' in window) window.requestIdleCallback(() => resolve())
    else setTimeout(resolve, IDLE_FALLBACK_MS)
  })
}
