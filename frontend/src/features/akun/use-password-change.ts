import { useState } from 'react'
import { OLD_PASSWORD_WRONG, requestOtpPassword, updatePassword } from '@/shared/api/account'
import { asApiError, explain } from '@/shared/api/error'
import { added } from '@/shared/copy/added'
import { spec } from '@/shared/copy/spec'
import { useAuth } from '@/shared/lib/auth-store'
import { codeSent, cooldownLeft, forgetCode } from '@/shared/lib/cooldown'
import { sheetsClosed } from '@/shared/lib/sheet-history'
import { toast } from '@/shared/lib/toast'
import { emptyForm, type PasswordForm, passwordDraft } from './password-draft'

type Step = 'closed' | 'form' | 'code'

/** Changing the password: the form, then the code (docs/product.md §4). `telp` is the customer's own number. */
export function usePasswordChange(telp: string) {
  const [initial] = useState(() => passwordDraft.read())
  const [form, setForm] = useState<PasswordForm>(initial ?? emptyForm)
  const [step, setStep] = useState<Step>(initial ? 'code' : 'closed')

  function toForm() {
    passwordDraft.clear()
    setStep('form')
  }

  function toCode() {
    passwordDraft.write(form)
    setStep('code')
  }

  async function submitForm(): Promise<void> {
    // A code sent within the last minute is still to be typed: asking again would only be refused.
    if (cooldownLeft('password', telp) > 0) return toCode()
    try {
      const message = await requestOtpPassword()
      codeSent('password', telp)
      toast.success(message)
      toCode()
    } catch (error) {
      const { title, body } = explain(error)
      toast.failure(spec.systemBusy, body ?? title)
    }
  }

  /** False when the same form waits for another code. */
  async function submitCode(code: string): Promise<boolean> {
    try {
      const { token } = await updatePassword(code, form.current, form.next)
      useAuth.getState().signIn(token)
    } catch (error) {
      const stays = tellFailure(error)
      if (!stays) toForm()
      return !stays
    }
    passwordDraft.clear()
    forgetCode('password', telp)
    toast.tellAfterReload({ kind: 'success', title: spec.passwordChanged })
    setStep('closed')
    await sheetsClosed()
    window.location.reload()
    return true
  }

  return {
    step,
    form,
    setForm,
    open: () => setStep('form'),
    close: () => {
      setForm(emptyForm)
      setStep('closed')
    },
    toForm,
    submitForm,
    submitCode,
  }
}

export type PasswordChange = ReturnType<typeof usePasswordChange>

/** Tells why the password stayed as it was; true when another code (or try) is what it takes. */
function tellFailure(error: unknown): boolean {
  const failure = asApiError(error)
  const { title, body } = explain(failure)
  if (failure.message.includes(OLD_PASSWORD_WRONG)) {
    toast.failure(spec.oldPasswordWrong, added.account.checkOldPassword)
    return false
  }
  if (failure.message === spec.otpInvalid) {
    toast.failure(spec.otpInvalid, added.otp.checkCode)
    return true
  }
  toast.failure(title, body)
  return failure.unanswered || failure.status === 429 || failure.status >= 500
}
