export interface Tap {
  /** Where it began, in CSS pixels of the window, and when, in ms since the page began. */
  x: number
  y: number
  at: number
}

/** The second tap of two ends within so many ms, and so many CSS pixels, of where the first one began. */
export const DOUBLE_TAP = { within: 400, near: 40 }

const NONE: Tap = { x: Number.NaN, y: Number.NaN, at: Number.NaN }
let last = NONE

/** At start: what the customer did last is followed from now on. */
export function followTaps(): void {
  window.addEventListener(
    'pointerdown',
    ({ clientX: x, clientY: y, timeStamp: at }) => {
      last = { x, y, at }
    },
    { capture: true, passive: true },
  )
  const other = () => {
    last = NONE
  }
  window.addEventListener('keydown', other, { capture: true, passive: true })
  window.addEventListener('popstate', other, { capture: true })
}

/** What has just gone may still be tapped, and what lies below it was not meant: nothing hears a tap for so long as a second one takes. */
export function ignoreTaps(): void {
  const since = performance.now()
  // The keyboard's click has no detail and is no tap.
  const ignore = (event: MouseEvent) => {
    if (event.detail === 0 || event.timeStamp - since > DOUBLE_TAP.within) return
    event.preventDefault()
    event.stopPropagation()
  }
  window.addEventListener('click', ignore, { capture: true })
  setTimeout(() => window.removeEventListener('click', ignore, { capture: true }), DOUBLE_TAP.within)
}

/** The tap that the customer has just made; all NaN when it was no tap but a key or a step back. */
export const lastTap = (): Tap => last
