import { type ReactNode, useEffect, useRef, useState } from 'react'
import { whenSilent } from '@/till/lib/page/keyboard'
import { Keypad } from '@/till/ui/keypad'
import styles from './pin-pad.module.css'

const LENGTH = 6

interface Props {
  /** The owner of the PIN, e.g. `PIN Rina`. */
  label: string
  hint?: string
  /** The result of the last attempt, or what to do. */
  message: string
  /** Whether the message is an error. */
  wrong?: boolean
  disabled: boolean
  pending: boolean
  onPin: (pin: string) => void
  extra?: ReactNode
  onIndigo?: boolean
}

/**
 * Six digits; the last one submits them and clears the dots. The pad waits for a moment without keys before it submits: digits of a
 * longer scan are not a PIN, and a few wrong PINs lock a person out.
 */
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
  const callOff = useRef<() => void>(undefined)
  useEffect(() => () => callOff.current?.(), [])

  function change(next: string) {
    // A seventh digit changes nothing.
    if (next.length > LENGTH) return
    callOff.current?.()
    setPin(next)
    if (next.length < LENGTH) return
    callOff.current = whenSilent(() => {
      setPin('')
      onPin(next)
    })
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
        onDigits={(digit) => change(pin + digit)}
        onBack={() => change(pin.slice(0, -1))}
        remember={() => () => change(pin.length < LENGTH ? pin : '')}
        extra={extra}
      />
    </div>
  )
}
