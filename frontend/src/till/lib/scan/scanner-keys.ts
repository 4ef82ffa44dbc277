import { CUSTOMER_CODE, MACHINE_CODE } from '@/till/lib/scan/scans'

/**
 * A scanner at the keyboard port types its text like a hand, with up to 100 ms between two keys. Keys that follow each other this fast
 * are one burst; the rest is a margin for inexact timers.
 */
const GAP_MS = 100 + 10
/** A burst is over after this time without a key: longer than `GAP_MS`, because a busy tablet receives keys late. */
const SILENCE_MS = 150
/** Time for a scanner's delayed Enter, which must not press a button. */
const LATE_ENTER_MS = 250
/** A hand on a number pad is as fast as a scanner, but for no more than this many digits. */
const MAX_BY_HAND = 7
/** Two letters in a burst are typed by hand; where no field takes letters, three are a scanner's. */
const MIN_SCAN = 3
/** Longer than any code of ours. */
const MAX_CODE = 512
/** Scanners can be configured to send the kind of code before its text, e.g. `]Q1`. */
const MAX_LEAD = 3

/** The effect of a key at the current focus: it only presses buttons, or it is typed into a field. */
export type Takes = 'nothing' | 'digits' | 'text'

/** Whether the keys of a burst cannot be typed by hand. `entered`: Enter or Tab has followed them. */
export function isScan(text: string, takes: Takes, entered: boolean): boolean {
  if (codeIn(text) !== null) return true
  if (takes !== 'nothing' && /^\d*$/.test(text)) return text.length > MAX_BY_HAND
  if (takes === 'text') return text.length > MAX_BY_HAND || (entered && text.length >= MIN_SCAN)
  // Space presses a button as Enter does.
  return text.length >= MIN_SCAN || (entered && text.trim() !== '') || /\S\s/.test(text)
}

const BEGINNINGS = [CUSTOMER_CODE, MACHINE_CODE].map((beginning) => beginning.replace('.', '\\.'))
const OURS = new RegExp(`^[^]{0,${MAX_LEAD}}?((?:${BEGINNINGS.join('|')})[\\w.-]*)`)

/** The code of ours in the typed text, with its original letters: with Caps Lock each letter has the other case. */
export function codeIn(text: string): string | null {
  const code = OURS.exec(text)?.[1] ?? OURS.exec(otherCase(text))?.[1]
  return code !== undefined && code.length <= MAX_CODE ? code : null
}

const otherCase = (text: string) =>
  text.replace(/[a-z]/gi, (letter) => (letter < 'a' ? letter.toLowerCase() : letter.toUpperCase()))

/** The page that receives the keys. */
export interface Page {
  /** Called at the first key of a burst. */
  takes: () => Takes
  /** Saves the state before the keys; the returned function restores it. */
  remember: () => () => void
  onCode: (code: string) => void
  /** Called for a scan that is not a code of ours. */
  onForeign: () => void
}

/** A pressed key, as in `KeyboardEvent`; `at` is its time in ms. */
export interface Stroke {
  key: string
  at: number
  /** The key is held down. */
  repeat?: boolean
}

/**
 * Distinguishes a scanner's keys from typing by their timing. Keys are let through until their burst cannot be typed by hand. Then the
 * page's state is restored, and `key` returns true for the rest, which no other listener may receive.
 */
export function scannerKeys(page: Page) {
  let text = ''
  let last = Number.NEGATIVE_INFINITY
  let takes: Takes = 'nothing'
  let putBack: () => void = () => undefined
  /** The burst comes from a scanner. */
  let caught = false
  /** The reported code of this burst; '' for a foreign one. */
  let reported: string | null = null
  let timer: ReturnType<typeof setTimeout> | undefined
  let waiting: (() => void) | null = null

  function report(): void {
    const code = codeIn(text)
    if (code !== null && code !== reported) page.onCode(code)
    else if (reported === null) page.onForeign()
    reported = code ?? reported ?? ''
  }

  /** Ends the silence timer; keys of the same burst that arrive later still belong to it. */
  function silent(): void {
    timer = undefined
    if (caught && text !== '') report()
    const act = waiting
    waiting = null
    act?.()
  }

  function wait(at: number): void {
    last = at
    clearTimeout(timer)
    timer = setTimeout(silent, SILENCE_MS)
  }

  function begin(): void {
    if (timer !== undefined && caught && text !== '') report()
    text = ''
    caught = false
    reported = null
    takes = page.takes()
    putBack = page.remember()
  }

  /** Makes the next key start another burst. */
  function forget(): void {
    begin()
    last = Number.NEGATIVE_INFINITY
  }

  return {
    key({ key, at, repeat = false }: Stroke): boolean {
      const ends = key === 'Enter' || key === 'Tab'
      // Shift alone has no meaning, but takes a key's time.
      if (key.length !== 1 && !ends && !ENDS_BURST.has(key)) {
        if (at - last <= GAP_MS) wait(at)
        return false
      }
      // A code of ours is recognised by its prefix, so a pause in it does not come from a hand.
      const limit = caught && codeIn(text) !== null ? SILENCE_MS : GAP_MS
      const fast = at - last <= limit || (caught && ends && at - last <= LATE_ENTER_MS)
      if (repeat && caught && fast) return true
      if (repeat || (key.length !== 1 && !ends)) {
        forget()
        return false
      }
      if (!fast) begin()
      wait(at)
      if (!ends && text.length <= MAX_CODE + MAX_LEAD) text += key
      if (!caught && isScan(text, takes, ends)) {
        caught = true
        waiting = null
        putBack()
      }
      if (ends && !caught) last = Number.NEGATIVE_INFINITY
      if (ends && caught) {
        if (text !== '') report()
        text = ''
      }
      return caught
    },
    /** Calls `act` once no key is pressed for a while, and never when the keys turn out to be a scanner's. */
    whenSilent(act: () => void): () => void {
      if (timer === undefined) act()
      else waiting = act
      return () => {
        if (waiting === act) waiting = null
      }
    },
    /** Other input was used: the next key starts another burst, except for the rest of a scan. */
    touched: () => {
      if (!caught || timer === undefined) forget()
    },
    /** Whether this time is within a scan. */
    isCaught: (at: number) => caught && at - last <= LATE_ENTER_MS,
    stop: () => clearTimeout(timer),
  }
}

/** Keys that a person presses and no scanner types. */
const ENDS_BURST = new Set([
  'Backspace',
  'Delete',
  'Escape',
  'ArrowUp',
  'ArrowDown',
  'ArrowLeft',
  'ArrowRight',
  'Home',
  'End',
])
