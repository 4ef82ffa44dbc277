import { Delete } from 'lucide-react'
import { type ReactNode, type RefObject, useLayoutEffect, useRef } from 'react'
import styles from './keypad.module.css'

interface Props {
  /** What the digits are for, e.g. `PIN Rina`. */
  label: string
  onDigits: (digits: string) => void
  onBack: () => void
  /** Enter, where it means more than the button that has the focus. */
  onEnter?: () => void
  /** Beside the zero. */
  extra?: ReactNode
  disabled?: boolean
  onIndigo?: boolean
  className?: string | undefined
}

const DIGITS = ['1', '2', '3', '4', '5', '6', '7', '8', '9']

/** Digits of our own: a USB scanner hides a tablet's keyboard. A real one works too, wherever the focus is. */
export function Keypad(props: Props) {
  const { label, onDigits, onBack, extra, disabled = false, onIndigo = false, className } = props
  const pad = useRef<HTMLFieldSetElement>(null)
  useKeys(pad, props)
  const classes = [styles.pad, onIndigo && styles.onIndigo, className]
  const digit = (text: string) => (
    <button key={text} type="button" className={styles.key} onClick={() => onDigits(text)}>
      {text}
    </button>
  )
  return (
    <fieldset
      ref={pad}
      className={classes.filter(Boolean).join(' ')}
      aria-label={label}
      aria-disabled={disabled || undefined}
      disabled={disabled}
    >
      {DIGITS.map(digit)}
      <div className={styles.extra}>{extra}</div>
      {digit('0')}
      <button
        type="button"
        className={`${styles.key} ${styles.back}`}
        aria-label="Hapus angka terakhir"
        onClick={onBack}
      >
        <Delete size={26} aria-hidden />
      </button>
    </fieldset>
  )
}

/** Another of the three lower keys, e.g. `000`. */
export function ExtraKey({ children, onClick }: { children: ReactNode; onClick: () => void }) {
  return (
    <button type="button" className={`${styles.key} ${styles.words}`} onClick={onClick}>
      {children}
    </button>
  )
}

function useKeys(pad: RefObject<HTMLElement | null>, props: Props): void {
  const latest = useRef(props)
  latest.current = props
  // Before the pad is seen: the first digit may come with it.
  useLayoutEffect(() => {
    // Whoever types digits means them with Enter, too, and not the button that was touched before.
    let typing = false
    function onKey(event: KeyboardEvent) {
      const { onDigits, onBack, onEnter, disabled } = latest.current
      if (disabled || event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey) return
      if (event.target instanceof HTMLInputElement || event.target instanceof HTMLTextAreaElement) return
      const dialog = document.querySelector('dialog[open]:last-of-type')
      if (dialog && !dialog.contains(pad.current)) return
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
    document.addEventListener('keydown', onKey)
    return () => document.removeEventListener('keydown', onKey)
  }, [pad])
}

/** Enter presses what has the focus, and does nothing besides. */
const isControl = (target: EventTarget | null) =>
  target instanceof Element && target.closest('button, a') !== null
