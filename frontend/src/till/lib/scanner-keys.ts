import { CUSTOMER_CODE, MACHINE_CODE } from '@/till/lib/scans'

/**
 * A scanner at the keyboard port types its text like a hand, with up to 100 ms between two keys. Keys that follow each
 * other as fast are one burst; the rest is for timers that are not exact.
 */
const GAP_MS = 100 + 10
/** A burst is over after so long without a key: later than `GAP_MS`, since a busy tablet hears keys late. */
const SILENCE_MS = 150
/** The Enter of a scanner that pauses before it: it must press no button. */
const LATE_ENTER_MS = 250
/** A hand on a number pad is as fast as a scanner, but not for longer than this many digits. */
const MAX_BY_HAND = 7
/** Two letters in a burst are a hand's; where nothing takes letters, three are a scanner's. */
const MIN_SCAN = 3
/** Longer than any code of ours. */
const MAX_CODE = 512
/** Scanners can be set to name the kind of code before its text, e.g. `]Q1`. */
const MAX_LEAD = 3

/** What a key does where it goes now: nothing but press buttons, or it is typed into something. */
export type Takes = 'nothing' | 'digits' | 'text'

/** Whether the keys of a burst, `entered` when Enter or Tab has followed them, can be no hand's. */
export function isScan(text: string, takes: Takes, entered: boolean): boolean {
  if (codeIn(text) !== null) return true
  if (takes !== 'nothing' && /^\d*$/.test(text)) return text.length > MAX_BY_HAND
  if (takes === 'text') return text.length > MAX_BY_HAND || (entered && text.length >= MIN_SCAN)
  // Space presses a button as Enter does.
  return text.length >= MIN_SCAN || (entered && text.trim() !== '') || /\S\s/.test(text)
}

const BEGINNINGS = [CUSTOMER_CODE, MACHINE_CODE].map((beginning) => beginning.replace('.', '\\.'))
const OURS = new RegExp(`^[^]{0,${MAX_LEAD}}?((?:${BEGINNINGS.join('|')})[\\w.-]*)`)

/** The code of ours that was typed, its letters as they are in the code: with Caps Lock on each has the other case. */
export function codeIn(text: string): string | null {
  const code = OURS.exec(text)?.[1] ?? OURS.exec(otherCase(text))?.[1]
  return code !== undefined && code.length <= MAX_CODE ? code : null
}

const otherCase = (text: string) =>
  text.replace(/[a-z]/gi, (letter) => (letter < 'a' ? letter.toLowerCase() : letter.toUpperCase()))

/** The page around the keys. */
export interface Page {
  /** Asked at the first key of a burst. */
  takes: () => Takes
  /** Remembers what the keys may change; the function given puts it back. */
  remember: () => () => void
  onCode: (code: string) => void
  /** A scan that is no code of ours. */
  onForeign: () => void
}

/** A key that was pressed: `KeyboardEvent`, `at` is its time in ms. */
export interface Stroke {
  key: string
  at: number
  /** It is held. */
  repeat?: boolean
}

/**
 * Tells a scanner's keys from a hand's by their timing. Keys are let through until their burst can be no hand's: then
 * what they changed is put back, and `key` gives true for the rest, of which nobody else may hear.
 */
export function scannerKeys(page: Page) {
  let text = ''
  let last = Number.NEGATIVE_INFINITY
  let takes: Takes = 'nothing'
  let putBack: () => void = () => undefined
  /** The burst is a scanner's. */
  let caught = false
  /** What has been told of it: its code, or '' for none of ours. */
  let told: string | null = null
  let timer: ReturnType<typeof setTimeout> | undefined
  let waiting: (() => void) | null = null

  function report(): void {
    const code = codeIn(text)
    if (code !== null && code !== told) page.onCode(code)
    else if (told === null) page.onForeign()
    told = code ?? told ?? ''
  }

  /** Keys of the same burst that are heard later still belong to it. */
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
    told = null
    takes = page.takes()
    putBack = page.remember()
  }

  /** The next key begins another burst. */
  function forget(): void {
    begin()
    last = Number.NEGATIVE_INFINITY
  }

  return {
    key({ key, at, repeat = false }: Stroke): boolean {
      const ends = key === 'Enter' || key === 'Tab'
      // Shift says nothing by itself, and takes a key's time.
      if (key.length !== 1 && !ends && !ENDS_BURST.has(key)) {
        if (at - last <= GAP_MS) wait(at)
        return false
      }
      // Ours is known by its beginning, so that a pause in it is none of a hand.
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
    /** Does `act` once no key is pressed for a while, and never when the keys turn out to be a scanner's. */
    whenSilent(act: () => void): () => void {
      if (timer === undefined) act()
      else waiting = act
      return () => {
        if (waiting === act) waiting = null
      }
    },
    /** Something else was used: the next key begins another burst, but for the rest of a scan. */
    touched: () => {
      if (!caught || timer === undefined) forget()
    },
    /** Within a scan. */
    isCaught: (at: number) => caught && at - last <= LATE_ENTER_MS,
    stop: () => clearTimeout(timer),
  }
}

/** Keys of a hand that no scanner types. */
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
