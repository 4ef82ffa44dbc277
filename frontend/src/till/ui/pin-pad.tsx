import { type ReactNode, useEffect, useRef, useState } from 'react'
import { whenSilent } from '@/till/lib/keyboard'
import { Keypad } from '@/till/ui/keypad'
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

/**
 * Six digits; the last one sends them, and nothing is left to be seen. They wait for a moment without keys: the digits of a
 * scanner that goes on are no PIN, and a few wrong ones lock a person out.
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
    // One too many changes nothing.
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
