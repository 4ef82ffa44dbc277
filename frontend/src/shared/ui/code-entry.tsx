import { type FormEvent, useEffect, useRef, useState } from 'react'
import { explain } from '@/shared/api/error'
import { added } from '@/shared/copy/added'
import { spec } from '@/shared/copy/spec'
import { type Purpose, useCooldown } from '@/shared/lib/cooldown'
import { formatLeft } from '@/shared/lib/format'
import { toast } from '@/shared/lib/toast'
import { useSubmit } from '@/shared/lib/use-submit'
import { Button } from '@/shared/ui/button'
import { emptyOtp, OtpInput, otpCode } from '@/shared/ui/otp-input'
import styles from './code-entry.module.css'
import form from './form.module.css'

interface Props {
  purpose: Purpose
  /** Number without prefix: the cooldown counts per number and purpose. */
  telp: string
  submitLabel: string
  /** The sixth digit submits by itself. */
  autoSubmit?: boolean
  /** Resolves to false when the code was refused: the boxes are emptied for another try. */
  onSubmit: (code: string) => Promise<boolean>
  /** Asks the server for another code. */
  resend: () => Promise<unknown>
}

/** Where the code was sent, the six boxes, the resend countdown and both buttons, as every code step has them. */
export function CodeEntry({ purpose, telp, submitLabel, autoSubmit = false, onSubmit, resend }: Props) {
  const [digits, setDigits] = useState(emptyOtp)
  const group = useRef<HTMLFormElement>(null)
  const refused = useRef(false)
  const { left_ms, wasSent, restart } = useCooldown(purpose, telp)

  const sending = useSubmit(async (code: string) => {
    if (await onSubmit(code)) return
    setDigits(emptyOtp())
    refused.current = true
  })
  // There is nothing else to do here, and the keyboard comes with it.
  useEffect(() => group.current?.querySelector('input')?.focus(), [])
  // The boxes are disabled while sending; the first one takes the focus when they are back.
  useEffect(() => {
    if (sending.pending || !refused.current) return
    refused.current = false
    group.current?.querySelector('input')?.focus()
  }, [sending.pending])
  const resending = useSubmit(async () => {
    try {
      await resend()
      restart()
      setDigits(emptyOtp())
      toast.success(added.otp.codeSent)
    } catch (error) {
      const { title, body } = explain(error)
      toast.failure(title, body)
    }
  })

  const code = otpCode(digits)
  function onFormSubmit(event: FormEvent) {
    event.preventDefault()
    if (code) sending.submit(code)
  }

  return (
    <>
      <p className={form.lead}>
        {wasSent ? added.otp.sent : added.otp.notSent} <strong className="digits">+62{telp}</strong>
      </p>
      <form ref={group} className={form.form} onSubmit={onFormSubmit} noValidate>
        <OtpInput
          digits={digits}
          onChange={setDigits}
          disabled={sending.pending}
          {...(autoSubmit ? { onComplete: sending.submit } : {})}
        />
        <Button type="submit" disabled={!code} pending={sending.pending}>
          {submitLabel}
        </Button>
        <div className={styles.resend}>
          <p className={styles.countdown}>
            {added.otp.resendIn} <span className={`digits ${styles.time}`}>{formatLeft(left_ms)}</span>
          </p>
          <Button
            variant="secondary"
            disabled={left_ms > 0}
            pending={resending.pending}
            onClick={() => resending.submit()}
          >
            {spec.resendCode}
          </Button>
        </div>
      </form>
    </>
  )
}
