import { type ClipboardEvent, type KeyboardEvent, useRef } from 'react'
import { copy } from '@/shared/copy/copy'
import { onlyDigits } from '@/shared/lib/text/digits'
import styles from './otp-input.module.css'

const OTP_LENGTH = 6
export const emptyOtp = (): string[] => Array<string>(OTP_LENGTH).fill('')

/** The code once all six digits are there, else null. */
export function otpCode(digits: string[]): string | null {
  const code = digits.join('')
  return code.length === OTP_LENGTH ? code : null
}

interface Props {
  digits: string[]
  onChange: (digits: string[]) => void
  /** Called with the code when an entry completes it. */
  onComplete?: (code: string) => void
  disabled?: boolean
}

/** Six single-digit boxes: entry moves forward, backspace moves back, a pasted or auto-filled code fills all boxes. */
export function OtpInput({ digits, onChange, onComplete, disabled = false }: Props) {
  const boxes = useRef<(HTMLInputElement | null)[]>([])
  const focus = (index: number) => boxes.current[Math.min(Math.max(index, 0), OTP_LENGTH - 1)]?.focus()

  function put(index: number, text: string) {
    const entered = onlyDigits(text).slice(0, OTP_LENGTH - index)
    const next = [...digits]
    if (entered === '') {
      if (text === '') next[index] = ''
      onChange(next)
      return
    }
    for (const [offset, digit] of [...entered].entries()) next[index + offset] = digit
    onChange(next)
    focus(index + entered.length)
    const code = otpCode(next)
    if (code) onComplete?.(code)
  }

  function onInput(index: number, value: string) {
    const before = digits[index] ?? ''
    // A second digit typed into a full box replaces the first; a whole code starts at the first box.
    if (value.length === 2 && before !== '') {
      put(index, value.startsWith(before) ? value.slice(1) : value.slice(0, 1))
    } else {
      put(onlyDigits(value).length >= OTP_LENGTH ? 0 : index, value)
    }
  }

  function onKeyDown(index: number, event: KeyboardEvent) {
    if (event.key === 'Backspace' && !digits[index] && index > 0) {
      event.preventDefault()
      const next = [...digits]
      next[index - 1] = ''
      onChange(next)
      focus(index - 1)
    }
    if (event.key === 'ArrowLeft') focus(index - 1)
    if (event.key === 'ArrowRight') focus(index + 1)
  }

  function onPaste(index: number, event: ClipboardEvent) {
    event.preventDefault()
    const text = onlyDigits(event.clipboardData.getData('text'))
    if (text) put(text.length >= OTP_LENGTH ? 0 : index, text)
  }

  return (
    <fieldset className={styles.group} disabled={disabled}>
      <legend className="visually-hidden">{copy.otp.label}</legend>
      <div className={styles.boxes}>
        {digits.map((digit, index) => (
          <input
            // biome-ignore lint/suspicious/noArrayIndexKey: six fixed boxes, their place is their identity
            key={index}
            ref={(box) => {
              boxes.current[index] = box
            }}
            className={styles.box}
            value={digit}
            aria-label={copy.otp.digit(index + 1)}
            inputMode="numeric"
            type="text"
            // The first box accepts a whole code from the keyboard's suggestion; the others one digit and its replacement.
            maxLength={index === 0 ? OTP_LENGTH + 1 : 2}
            autoComplete={index === 0 ? 'one-time-code' : 'off'}
            onChange={(event) => onInput(index, event.target.value)}
            onKeyDown={(event) => onKeyDown(index, event)}
            onPaste={(event) => onPaste(index, event)}
            onFocus={(event) => event.target.select()}
          />
        ))}
      </div>
    </fieldset>
  )
}
