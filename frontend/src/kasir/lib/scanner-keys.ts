import { CUSTOMER_CODE, MACHINE_CODE } from '@/kasir/lib/scans'

/** A USB scanner types its text like a keyboard, only faster than anybody types. */
const FAST_MS = 35
/** So long after its last key a text is whole, where no Enter ends it. */
const SILENCE_MS = 60
/** The Enter of a scanner that pauses before it: it must press no button. */
const LATE_ENTER_MS = 250
/** Longer than any code of ours. */
const LONGEST = 512

const PREFIXES = [CUSTOMER_CODE, MACHINE_CODE]
const begins = (text: string) => PREFIXES.some((prefix) => prefix.startsWith(text))
const isCode = (text: string) => PREFIXES.some((prefix) => text.startsWith(prefix))

interface Heard {
  onScan: (text: string) => void
  /** Keys were held that turned out to be typed by hand. */
  onTyped: (text: string) => void
}

/**
 * Tells a scanner's keys from a hand's. `key` says whether the key belongs to a scan, or may do so: then nothing else
 * may hear of it. Held keys that are no scan come back by `onTyped`. `at` is the time of the key in ms.
 */
export function scannerKeys({ onScan, onTyped }: Heard): {
  key: (key: string, at: number) => boolean
  stop: () => void
} {
  let held = ''
  let last = Number.NEGATIVE_INFINITY
  let ended = Number.NEGATIVE_INFINITY
  let timer: ReturnType<typeof setTimeout> | undefined

  /** What is held is whole, or was no scan. */
  function settle(): void {
    clearTimeout(timer)
    const text = held
    held = ''
    if (!text) return
    if (isCode(text)) {
      ended = last
      if (text.length <= LONGEST) onScan(text)
    } else onTyped(text)
  }

  return {
    key(key, at) {
      const fast = at - last < FAST_MS
      if (isCode(held) ? at - last > SILENCE_MS : !fast) settle()
      if (key === 'Enter') {
        const scanned = isCode(held)
        settle()
        return scanned || at - ended <= LATE_ENTER_MS
      }
      if (key.length !== 1) {
        // Shift comes before each capital letter; any other key is a hand's.
        if (key !== 'Shift') settle()
        return false
      }
      if (!isCode(held) && !begins(held + key)) settle()
      if (!isCode(held) && !begins(held + key)) return false
      held = (held + key).slice(0, LONGEST + 1)
      last = at
      clearTimeout(timer)
      // Later than `FAST_MS`: on a busy tablet the next key may be heard late, with the time that it was pressed.
      timer = setTimeout(settle, SILENCE_MS)
      return true
    },
    stop() {
      clearTimeout(timer)
      held = ''
    },
  }
}

/** Listens to all keys of the page, wherever the focus is, before anything else hears them. */
export function listenForScans(onScan: (text: string) => void): () => void {
  const keys = scannerKeys({ onScan, onTyped: typeIn })
  const onKey = (event: KeyboardEvent) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return
    if (!keys.key(event.key, event.timeStamp)) return
    event.preventDefault()
    event.stopImmediatePropagation()
  }
  window.addEventListener('keydown', onKey, { capture: true })
  return () => {
    keys.stop()
    window.removeEventListener('keydown', onKey, { capture: true })
  }
}

/** Gives held keys to the field that would have had them. */
function typeIn(text: string): void {
  const field = document.activeElement
  if (!(field instanceof HTMLInputElement || field instanceof HTMLTextAreaElement)) return
  if (field.disabled || field.readOnly) return
  field.setRangeText(
    text,
    field.selectionStart ?? field.value.length,
    field.selectionEnd ?? field.value.length,
    'end',
  )
  field.dispatchEvent(new InputEvent('input', { bubbles: true, inputType: 'insertText', data: text }))
}
