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

/** Where and when something was pressed, as far as an event tells. */
type Press = Pick<MouseEvent, 'clientX' | 'clientY' | 'timeStamp'>

/** Whether this is the second tap of a double tap that began with `first`. */
export function isAgain({ x, y, at }: Tap, { clientX, clientY, timeStamp }: Press): boolean {
  return timeStamp - at < DOUBLE_TAP.within && Math.hypot(clientX - x, clientY - y) < DOUBLE_TAP.near
}

/** A click that is meant for nobody. The keyboard's has no detail and is no tap. */
export function swallow(event: Pick<MouseEvent, 'detail' | 'preventDefault' | 'stopPropagation'>): void {
  if (event.detail === 0) return
  event.preventDefault()
  event.stopPropagation()
}

/**
 * What has just gone may still be tapped, and what lies below it was not meant: for so long as a second tap takes, nothing
 * hears one near the first. Without a first one, as in a page that has just been loaded, nobody knows where, and it is anywhere.
 */
export function ignoreTaps(first?: Tap): void {
  const at = performance.now()
  const ignore = (event: MouseEvent) => {
    const { clientX: x, clientY: y } = event
    if (isAgain({ x, y, ...first, at }, event)) swallow(event)
  }
  window.addEventListener('click', ignore, { capture: true })
  setTimeout(() => window.removeEventListener('click', ignore, { capture: true }), DOUBLE_TAP.within)
}

/** The tap that the customer has just made; all NaN when it was no tap but a key or a step back. */
export const lastTap = (): Tap => last
