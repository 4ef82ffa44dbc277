import { lessMotion } from '@/shared/lib/page/less-motion'

/** One short vibration, where the phone can and its owner does not want less motion. */
export function vibrate(): void {
  // Without an earlier touch the browser refuses and logs a warning.
  if (!navigator.userActivation?.hasBeenActive) return
  if (lessMotion()) return
  navigator.vibrate?.(80)
}
