import { useState } from 'react'
import { type ApiError, asApiError, explain } from '@/shared/api/error'
import { useSend } from '@/shared/api/use-send'
import { copy } from '@/shared/copy/copy'
import { codeSent, cooldownLeft, forgetCode } from '@/shared/lib/form/cooldown'
import { sheetsClosed } from '@/shared/lib/page/sheet-history'
import { useAuth } from '@/shared/lib/session/auth-store'
import { toast } from '@/shared/lib/toast/toast'
import { moveTo, requestMoveCodes } from './calls'
import { dataCopy } from './data-copy'
import { type MoveDraft, moveDraft } from './move-draft'
import { passwordTexts } from './wrong-password'

export type MoveStep = 'closed' | 'form' | 'oldCode' | 'newCode'

const EMPTY: MoveDraft = { telp: '', password: '', otp_lama: null }

const stepOf = (kept: MoveDraft | null): MoveStep =>
  !kept ? 'closed' : kept.otp_lama === null ? 'oldCode' : 'newCode'

/** Moving the accounts to another number: the form, then the code of the old number, then that of the new one. `own`: this number. */
export function useMove(own: string) {
  const [kept] = useState(() => moveDraft.read())
  const [draft, setDraft] = useState(kept ?? EMPTY)
  const [step, setStep] = useState(stepOf(kept))

  function toCode(next: MoveDraft) {
    moveDraft.write(next)
    setDraft(next)
    setStep(stepOf(next))
  }
  /** Both codes are sent at once. */
  function codesSent(telp: string) {
    for (const number of [own, telp]) codeSent('move', number)
  }
  function toForm() {
    moveDraft.clear()
    setStep('form')
  }

  const asking = useSend({
    async send(form: MoveDraft) {
      // Codes sent within the last minute are still valid: another request would only be refused.
      if (cooldownLeft('move', form.telp) > 0) return false
      await requestMoveCodes(form.telp)
      return true
    },
    texts: failureTexts,
    onDone(areNew, form) {
      if (areNew) codesSent(form.telp)
      toCode({ ...form, otp_lama: null })
    },
  })
  const moving = useSend({
    send: (otp_baru: string) =>
      moveTo({ telp: draft.telp, password: draft.password, otp_lama: draft.otp_lama ?? '', otp_baru }),
    texts: failureTexts,
    async onDone({ token }) {
      useAuth.getState().signIn(token)
      moveDraft.clear()
      for (const number of [own, draft.telp]) forgetCode('move', number)
      toast.tellAfterReload({ kind: 'success', title: dataCopy.moved, body: dataCopy.movedBody })
      setStep('closed')
      await sheetsClosed()
      window.location.reload()
    },
    onFailed(failure) {
      const error = asApiError(failure)
      // The server does not tell which of the two codes is wrong.
      if (error.message === copy.otp.invalid) toCode({ ...draft, otp_lama: null })
      else if (!error.unanswered && error.status < 500 && error.status !== 429) toForm()
    },
  })

  return {
    own,
    step,
    draft,
    setDraft,
    asking,
    moving,
    codesSent: () => codesSent(draft.telp),
    open: () => setStep('form'),
    close() {
      moveDraft.clear()
      setDraft(EMPTY)
      setStep('closed')
    },
    toForm,
    takeOldCode: (otp_lama: string) => toCode({ ...draft, otp_lama }),
  }
}

export type Move = ReturnType<typeof useMove>

/** Explains why the accounts did not move. */
function failureTexts(error: ApiError) {
  if (error.message === copy.otp.invalid) return { title: copy.otp.invalid, body: copy.otp.checkCode }
  if (error.status === 404) return { ...explain(error), body: dataCopy.registerFirst }
  return passwordTexts(error)
}
