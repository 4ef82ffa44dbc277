import { useState } from 'react'
import { type ApiError, asApiError, explain } from '@/shared/api/error'
import { useSend } from '@/shared/api/use-send'
import { copy } from '@/shared/copy/copy'
import { codeSent, cooldownLeft, forgetCode } from '@/shared/lib/form/cooldown'
import { sheetsClosed } from '@/shared/lib/page/sheet-history'
import { useAuth } from '@/shared/lib/session/auth-store'
import { toast } from '@/shared/lib/toast/toast'
import { useCodeEntry } from '@/shared/ui/code-entry'
import { OLD_PASSWORD_WRONG, requestOtpPassword, updatePassword } from './calls'
import { emptyForm, type PasswordForm, passwordDraft } from './password-draft'

type Step = 'closed' | 'form' | 'code'

/** Changing the password: the form, then the code (docs/product.md §4). `telp` is the customer's own number. */
export function usePasswordChange(telp: string) {
  const [initial] = useState(() => passwordDraft.read())
  const [form, setForm] = useState<PasswordForm>(initial ?? emptyForm)
  const [step, setStep] = useState<Step>(initial ? 'code' : 'closed')
  return {
    telp,
    step,
    form,
    setForm,
    open: () => setStep('form'),
    close() {
      setForm(emptyForm)
      setStep('closed')
    },
    toForm() {
      passwordDraft.clear()
      setStep('form')
    },
    toCode() {
      passwordDraft.write(form)
      setStep('code')
    },
    /** The password is changed: the page reloads with the new token. */
    async done(token: string): Promise<void> {
      useAuth.getState().signIn(token)
      passwordDraft.clear()
      forgetCode('password', telp)
      toast.tellAfterReload({ kind: 'success', title: copy.account.passwordChanged })
      setStep('closed')
      await sheetsClosed()
      window.location.reload()
    },
  }
}

export type PasswordChange = ReturnType<typeof usePasswordChange>

/** The form's button: requests a code. */
export function useAskForCode({ telp, toCode }: PasswordChange) {
  return useSend({
    // A code sent within the last minute is still valid: another request would only be refused.
    send: async () => (cooldownLeft('password', telp) > 0 ? null : requestOtpPassword()),
    texts: (error) => {
      const { title, body } = explain(error)
      return { title: copy.pay.systemBusy, body: body ?? title }
    },
    onDone: (message) => {
      if (message !== null) {
        codeSent('password', telp)
        toast.success(message)
      }
      toCode()
    },
  })
}

/** The code step: sends the code with what the form held. */
export function useCodeStep({ telp, form, toForm, done }: PasswordChange) {
  const entry = useCodeEntry('password', telp)
  const sending = useSend({
    send: (code: string) => updatePassword(code, form.current, form.next),
    texts: failureTexts,
    onDone: ({ token }) => done(token),
    onFailed: (error) => (needsAnother(asApiError(error)) ? entry.refused() : toForm()),
  })
  const resending = useSend({ send: requestOtpPassword, onDone: entry.resent })
  return { entry, sending, resending }
}

/** Explains why the password did not change (docs/product.md §8). */
function failureTexts(error: ApiError) {
  if (error.message.includes(OLD_PASSWORD_WRONG)) {
    return { title: copy.account.oldPasswordWrong, body: copy.account.checkOldPassword }
  }
  if (error.message === copy.otp.invalid) return { title: copy.otp.invalid, body: copy.otp.checkCode }
  return explain(error)
}

/** Whether another code or another attempt helps; otherwise the form is wrong. */
function needsAnother({ message, status, unanswered }: ApiError): boolean {
  if (message.includes(OLD_PASSWORD_WRONG)) return false
  return message === copy.otp.invalid || unanswered || status === 429 || status >= 500
}
