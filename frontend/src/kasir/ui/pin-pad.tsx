import { type ReactNode, useState } from 'react'
import { Keypad } from '@/kasir/ui/keypad'
import styles from './pin-pad.module.css'

const LENGTH = 6

interface Props {
  /** Whose, e.g. `PIN Rina`. */
  label: string
  hint?: string
  /** What became of the last one, or what to do. */
  message: string
  /** Whether the message is about something wrong. */
  wrong?: boolean
  disabled: boolean
  pending: boolean
  onPin: (pin: string) => void
  extra?: ReactNode
  onIndigo?: boolean
}

/** Six digits; the last one sends them, and nothing is left to be seen. */
export function PinPad(props: Props) {
  const {
    label,
    hint = '6 angka',
    message,
    wrong = false,
    disabled,
    pending,
    onPin,
    extra,
    onIndigo = false,
  } = props
  const [pin, setPin] = useState('')

  function add(digit: string) {
    const longer = pin + digit
    setPin(longer.length === LENGTH ? '' : longer)
    if (longer.length === LENGTH) onPin(longer)
  }

  const filled = pending ? LENGTH : pin.length
  return (
    <div className={styles.pin} data-on-indigo={onIndigo || undefined}>
      <p className={styles.label}>{label}</p>
      <p className={styles.hint}>{hint}</p>
      <div className={styles.dots} aria-hidden="true">
        {Array.from({ length: LENGTH }, (_, place) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: a place is all that a dot is
          <span key={place} className={styles.dot} data-filled={place < filled || undefined} />
        ))}
      </div>
      <p role="status" className="visually-hidden">
        {pending ? 'Memeriksa PIN' : `${pin.length} dari ${LENGTH} angka`}
      </p>
      <p role="alert" className={styles.message} data-wrong={wrong || undefined}>
        {message}
      </p>
      <Keypad
        label={label}
        className={styles.keypad}
        onIndigo={onIndigo}
        disabled={disabled || pending}
        onDigits={add}
        onBack={() => setPin(pin.slice(0, -1))}
        extra={extra}
      />
    </div>
  )
}
