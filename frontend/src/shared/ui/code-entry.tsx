import { type FormEvent, useEffect, useRef, useState } from 'react'
import { copy } from '@/shared/copy/copy'
import { type Purpose, useCooldown } from '@/shared/lib/form/cooldown'
import type { Sending } from '@/shared/lib/form/use-submit'
import { formatLeft } from '@/shared/lib/text/format'
import { toast } from '@/shared/lib/toast/toast'
import { Button } from '@/shared/ui/button'
import type { Elements } from '@/shared/ui/elements'
import { emptyOtp, OtpInput, otpCode } from '@/shared/ui/otp-input'
import { Telp } from '@/shared/ui/telp'
import styles from './code-entry.module.css'
import form from './form.module.css'

/** State of a code step. `telp`: number without prefix; the cooldown counts per number and purpose. */
export function useCodeEntry(purpose: Purpose, telp: string) {
  const [digits, setDigits] = useState(emptyOtp)
  const [refusals, setRefusals] = useState(0)
  const { left_ms, wasSent, restart } = useCooldown(purpose, telp)
  return {
    telp,
    digits,
    setDigits,
    left_ms,
    wasSent,
    /** Number of refused codes. */
    refusals,
    /** The typed code was refused: the boxes are emptied for another one. */
    refused() {
      setDigits(emptyOtp())
      setRefusals((count) => count + 1)
    },
    /** Another code was sent. */
    resent() {
      restart()
      setDigits(emptyOtp())
      toast.success(copy.otp.codeSent)
    },
  }
}

interface Props {
  entry: ReturnType<typeof useCodeEntry>
  submitLabel: string
  /** The sixth digit submits. */
  autoSubmit?: boolean
  sending: Sending<[code: string]>
  /** Requests another code. */
  resending: Sending
  /** Places the button, if not simply at the end. */
  footer?: (submit: Elements) => Elements
}

/** Where the code was sent, the six boxes, the resend countdown and both buttons, as every code step has them. */
export function CodeEntry({
  entry,
  submitLabel,
  autoSubmit = false,
  sending,
  resending,
  footer = (submit) => submit,
}: Props) {
  const { telp, digits, setDigits, left_ms, wasSent, refusals } = entry
  const group = useRef<HTMLFormElement>(null)

  // The boxes get the focus, and with it the keyboard: there is nothing else to do here. They are disabled while sending; after a refusal
  // the first one takes the focus when they are enabled again.
  const focusedFor = useRef(-1)
  useEffect(() => {
    if (sending.pending || focusedFor.current === refusals) return
    focusedFor.current = refusals
    group.current?.querySelector('input')?.focus()
  }, [sending.pending, refusals])

  const code = otpCode(digits)
  function onFormSubmit(event: FormEvent) {
    event.preventDefault()
    if (code) sending.submit(code)
  }

  return (
    <form ref={group} className={form.form} onSubmit={onFormSubmit} noValidate>
      <p className={form.lead}>
        <span>{wasSent ? copy.otp.sent : copy.otp.notSent}</span>{' '}
        <strong>
          <Telp telp={telp} />
        </strong>
      </p>
      <OtpInput
        digits={digits}
        onChange={setDigits}
        disabled={sending.pending}
        {...(autoSubmit ? { onComplete: sending.submit } : {})}
      />
      <div className={styles.resend}>
        <p className={styles.countdown}>
          <span>{copy.otp.resendIn}</span>{' '}
          <span className={`digits ${styles.time}`} translate="no">
            {formatLeft(left_ms)}
          </span>
        </p>
        <Button
          variant="secondary"
          disabled={left_ms > 0}
          pending={resending.pending}
          onClick={() => resending.submit()}
        >
          {copy.otp.resend}
        </Button>
      </div>
      {footer(
        <Button type="submit" disabled={!code} pending={sending.pending}>
          {submitLabel}
        </Button>,
      )}
    </form>
  )
}
