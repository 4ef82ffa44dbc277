import { useEffect, useEffectEvent } from 'react'
import { CHIPS, type Chip } from './states'

interface BoardKeys {
  onFind: () => void
  onChip: (chip: Chip) => void
  onHelp: () => void
  /** Asks the machine that is open. */
  onAsk: () => void
  /** Begins to close the focused machine; a reason is asked first. */
  onCloseMachine: () => void
  onEscape: () => void
}

/** Single keys on the board, except in fields and while a dialog is open. */
export function useBoardKeys(keys: BoardKeys): void {
  const onKey = useEffectEvent((event: KeyboardEvent) => {
    const { key, target } = event
    if (event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey || event.repeat) return
    if (document.querySelector('dialog[open]')) return
    if (key === 'Escape') return keys.onEscape()
    if (target instanceof HTMLInputElement || target instanceof HTMLSelectElement) return
    const chip = /^[1-5]$/.test(key) ? CHIPS[Number(key) - 1] : undefined
    if (chip) keys.onChip(chip)
    else if (key === '/') keys.onFind()
    else if (key === '?') keys.onHelp()
    else if (key === 't') keys.onAsk()
    else if (key === 'x') keys.onCloseMachine()
    else return
    // The slash must not be typed into the field that it opens.
    event.preventDefault()
  })
  useEffect(() => {
    const listener = (event: KeyboardEvent) => onKey(event)
    document.addEventListener('keydown', listener)
    return () => document.removeEventListener('keydown', listener)
  }, [])
}
