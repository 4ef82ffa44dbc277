/** One short vibration, where the phone can and its owner does not want less motion. */
export function vibrate(): void {
  // Without an earlier touch the browser refuses and complains.
  if (!navigator.userActivation?.hasBeenActive) return
  if (window.matchMedia('(prefers-reduced-motion: reduce)').matches) return
  navigator.vibrate?.(200)
}
