export interface Tap {
  /** Where it began, in CSS pixels of the window, and when, in ms since the page began. */
  x: number
  y: number
  at: number
}

interface Followed extends Tap {
  /** What was tapped. */
  target: Element | null
  /** A finger's, or a pen's. */
  touch: boolean
  /** What the taps hit that this one came right after, at one place. */
  before: Element[]
}

/** The second tap of two ends within so many ms, and so many CSS pixels, of where the first one began. */
export const DOUBLE_TAP = { within: 400, near: 40 }

/** What is tapped as one, whichever part of it is hit. */
const CONTROLS = 'a, button, input, label, select, textarea'
/** Nobody means more taps in one place. */
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
/** What the customer has done since was no tap. */
let other = false

/**
 * At start: what the customer did last is followed from now on. A second tap was meant for what the first one hit: where that has gone
 * meanwhile, nothing that has come to its place hears it.
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
  // A mouse clicks twice where its system says so, and otherwise where it was put.
  if (before.some(({ isConnected }) => !isConnected) && (touch || event.detail > 1)) swallow(event)
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

/** In a page that has just been loaded nobody knows where the first tap was: for so long as a second one takes, nothing hears one. */
export function ignoreTaps(): void {
  const since = performance.now()
  const ignore = (event: MouseEvent) => {
    if (event.timeStamp - since < DOUBLE_TAP.within) swallow(event)
  }
  window.addEventListener('click', ignore, { capture: true })
  setTimeout(() => window.removeEventListener('click', ignore, { capture: true }), DOUBLE_TAP.within)
}

/** The tap that the customer has just made; all NaN when it was no tap but a key or a step back. */
export const lastTap = (): Tap => (other ? NONE : last)
