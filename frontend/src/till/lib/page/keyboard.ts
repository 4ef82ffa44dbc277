import { type RefObject, useLayoutEffect, useRef } from 'react'
import { scannerKeys, type Takes } from '@/till/lib/scan/scanner-keys'

/** A consumer of digits, independent of the focus: a keypad. */
interface Taker {
  isListening: () => boolean
  remember: () => () => void
}

const takers = new Set<Taker>()
let active: ReturnType<typeof scannerKeys> | null = null

/** Listens to all keys of the page, independent of the focus, before any other listener: only `onCode` receives what a scanner types. */
export function listenForScans(onCode: (code: string) => void, onForeign: () => void): () => void {
  const keys = scannerKeys({ takes, remember, onCode, onForeign })
  active = keys
  const swallow = (event: KeyboardEvent) => {
    event.preventDefault()
    event.stopImmediatePropagation()
  }
  const onKey = (event: KeyboardEvent) => {
    const { key, timeStamp: at, repeat } = event
    if (event.isComposing) return
    const shortcut = event.ctrlKey || event.metaKey || event.altKey
    // A control character in the middle of a scan is not a shortcut.
    if (shortcut ? keys.isCaught(at) : keys.key({ key, at, repeat })) swallow(event)
  }
  // Some browsers press a button when Space is released.
  const onUp = (event: KeyboardEvent) => {
    if (keys.isCaught(event.timeStamp)) swallow(event)
  }
  window.addEventListener('keydown', onKey, { capture: true })
  window.addEventListener('keyup', onUp, { capture: true })
  window.addEventListener('pointerdown', keys.touched, { capture: true })
  return () => {
    keys.stop()
    if (active === keys) active = null
    window.removeEventListener('keydown', onKey, { capture: true })
    window.removeEventListener('keyup', onUp, { capture: true })
    window.removeEventListener('pointerdown', keys.touched, { capture: true })
  }
}

/**
 * For input that submits automatically: calls `act` once no key has been pressed for a while, and never when the keys were a scanner's.
 * Without preceding keys, as after a touch, it calls it at once. The returned function cancels it.
 */
export function whenSilent(act: () => void): () => void {
  if (active) return active.whenSilent(act)
  act()
  return () => undefined
}

function takes(): Takes {
  const field = focusedField()
  if (field) return DIGIT_MODES.has(field.inputMode) ? 'digits' : 'text'
  return [...takers].some(({ isListening }) => isListening()) ? 'digits' : 'nothing'
}

const DIGIT_MODES = new Set(['none', 'numeric', 'decimal', 'tel'])

function remember(): () => void {
  const putBack = [...takers].filter(({ isListening }) => isListening()).map((taker) => taker.remember())
  const field = focusedField()
  if (field) putBack.push(rememberField(field))
  return () => {
    for (const one of putBack) one()
  }
}

function focusedField(): HTMLInputElement | HTMLTextAreaElement | null {
  const field = document.activeElement
  if (!(field instanceof HTMLInputElement || field instanceof HTMLTextAreaElement)) return null
  return field.disabled || field.readOnly ? null : field
}

function rememberField(field: HTMLInputElement | HTMLTextAreaElement): () => void {
  const { value, selectionStart, selectionEnd } = field
  return () => {
    if (field.value === value) return
    field.setRangeText(value, 0, field.value.length)
    field.setSelectionRange(selectionStart, selectionEnd)
    field.dispatchEvent(new InputEvent('input', { bubbles: true, inputType: 'historyUndo' }))
  }
}

interface DigitKeys {
  onDigits: (digits: string) => void
  onBack: () => void
  /** Handles Enter, where it means more than the focused button. */
  onEnter?: () => void
  /** Saves the state before the next digits; the returned function restores it, if they were a scanner's. */
  remember: () => () => void
  disabled?: boolean
}

/** Digits of a real keyboard, independent of the focus, except in fields and in dialogs that are not around `place`. */
export function useDigitKeys(place: RefObject<HTMLElement | null>, props: DigitKeys): void {
  const latest = useRef(props)
  latest.current = props
  // A layout effect runs before the keypad is visible: the first digit may arrive at once.
  useLayoutEffect(() => {
    // After typed digits, Enter means the digits, and not the button that was touched before.
    let typing = false
    const isListening = () => {
      const dialog = document.querySelector('dialog[open]:last-of-type')
      return !latest.current.disabled && (!dialog || dialog.contains(place.current))
    }
    function onKey(event: KeyboardEvent) {
      const { onDigits, onBack, onEnter } = latest.current
      if (event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey) return
      if (event.target instanceof HTMLInputElement || event.target instanceof HTMLTextAreaElement) return
      if (!isListening()) return
      if (event.key === 'Enter') {
        if (!onEnter || (!typing && isControl(event.target))) return
        event.preventDefault()
        onEnter()
      } else if (/^\d$/.test(event.key)) {
        typing = true
        onDigits(event.key)
      } else if (event.key === 'Backspace') {
        typing = true
        onBack()
      } else typing = false
    }
    const taker: Taker = { isListening, remember: () => latest.current.remember() }
    takers.add(taker)
    document.addEventListener('keydown', onKey)
    return () => {
      takers.delete(taker)
      document.removeEventListener('keydown', onKey)
    }
  }, [place])
}

/** Enter presses the focused control, and does nothing else. */
const isControl = (target: EventTarget | null) =>
  target instanceof Element && target.closest('button, a') !== null
