export interface Tap {
  /** Its start: place in CSS pixels of the window, and time in ms since the page's start. */
  x: number
  y: number
  at: number
}

interface Followed extends Tap {
  /** The tapped element. */
  target: Element | null
  /** The tap of a finger or a pen. */
  touch: boolean
  /** The targets of the taps directly before this one, at the same place. */
  before: Element[]
}

/** A second tap ends within this many ms, and this many CSS pixels, of the start of the first one. */
export const DOUBLE_TAP = { within: 400, near: 40 }

/** Elements that count as one target, with all their parts. */
const CONTROLS = 'a, button, input, label, select, textarea'
/** Number of taps in one place that are remembered; more are never intended. */
const REMEMBERED = 4
const NONE: Followed = {
  x: Number.NaN,
  y: Number.NaN,
  at: Number.NaN,
  target: null,
  touch: false,
  before: [],
}
let last = NONE
/** The customer's last action was not a tap. */
let other = false

/**
 * Starts to follow the customer's taps; called once at the start. A second tap is meant for the target of the first one: if that element
 * is gone, the element that took its place must not receive the tap.
 */
export function followTaps(): void {
  window.addEventListener('pointerdown', follow, { capture: true, passive: true })
  window.addEventListener('click', keepFromOthers, { capture: true })
  const onOther = () => {
    other = true
  }
  window.addEventListener('keydown', onOther, { capture: true, passive: true })
  window.addEventListener('popstate', onOther, { capture: true })
}

function follow(event: PointerEvent) {
  const { clientX: x, clientY: y, timeStamp: at, pointerType } = event
  const hit = event.target instanceof Element ? event.target : null
  const before =
    isAgain(last, event) && last.target ? [...last.before.slice(1 - REMEMBERED), last.target] : []
  other = false
  last = { x, y, at, target: hit?.closest(CONTROLS) ?? hit, touch: pointerType !== 'mouse', before }
}

function keepFromOthers(event: MouseEvent) {
  const { before, touch } = last
  // A mouse click counts as a double click only if its system reports one; else the customer moved it there on purpose.
  if (before.some(({ isConnected }) => !isConnected) && (touch || event.detail > 1)) swallow(event)
}

/** Place and time of a press, from an event. */
type Press = Pick<MouseEvent, 'clientX' | 'clientY' | 'timeStamp'>

/** Whether this is the second tap of a double tap that started with `first`. */
export function isAgain({ x, y, at }: Tap, { clientX, clientY, timeStamp }: Press): boolean {
  return timeStamp - at < DOUBLE_TAP.within && Math.hypot(clientX - x, clientY - y) < DOUBLE_TAP.near
}

/** Drops a click that has no valid target. A keyboard's click has no detail and is not a tap. */
export function swallow(event: Pick<MouseEvent, 'detail' | 'preventDefault' | 'stopPropagation'>): void {
  if (event.detail === 0) return
  event.preventDefault()
  event.stopPropagation()
}

/** A newly loaded page does not know where the first tap was: it ignores all taps for the duration of a double tap. */
export function ignoreTaps(): void {
  const since = performance.now()
  const ignore = (event: MouseEvent) => {
    if (event.timeStamp - since < DOUBLE_TAP.within) swallow(event)
  }
  window.addEventListener('click', ignore, { capture: true })
  setTimeout(() => window.removeEventListener('click', ignore, { capture: true }), DOUBLE_TAP.within)
}

/** The customer's latest tap; all NaN when the last action was a key or a step back. */
export const lastTap = (): Tap => (other ? NONE : last)
