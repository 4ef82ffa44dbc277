export interface Tap {
  /** Where it began, in CSS pixels of the window, and when, in ms since the page began. */
  x: number
  y: number
  at: number
}

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

/** The tap that the customer has just made; all NaN when it was no tap but a key or a step back. */
export const lastTap = (): Tap => last
