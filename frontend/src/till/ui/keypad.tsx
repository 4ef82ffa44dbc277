import { Delete } from 'lucide-react'
import { type ReactNode, useRef } from 'react'
import { useDigitKeys } from '@/till/lib/page/keyboard'
import styles from './keypad.module.css'

interface Props {
  /** The purpose of the digits, e.g. `PIN Rina`. */
  label: string
  onDigits: (digits: string) => void
  onBack: () => void
  /** Handles Enter, where it means more than the focused button. */
  onEnter?: () => void
  /** Saves the state before the next digits; the returned function restores it, if they were a scanner's. */
  remember: () => () => void
  /** Beside the zero. */
  extra?: ReactNode
  disabled?: boolean
  onIndigo?: boolean
  className?: string | undefined
}

const DIGITS = ['1', '2', '3', '4', '5', '6', '7', '8', '9']

/** The till's own keypad: a USB scanner hides a tablet's keyboard. A real keyboard works too, independent of the focus. */
export function Keypad(props: Props) {
  const { label, onDigits, onBack, extra, disabled = false, onIndigo = false, className } = props
  const pad = useRef<HTMLFieldSetElement>(null)
  useDigitKeys(pad, props)
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
