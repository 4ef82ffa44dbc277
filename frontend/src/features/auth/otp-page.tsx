import { useState } from 'react'
import { Navigate, useNavigate, useParams } from 'react-router'
import { type ApiError, asApiError, explain } from '@/shared/api/error'
import { showFailure } from '@/shared/api/show-failure'
import { copy } from '@/shared/copy/copy'
import { forgetCode } from '@/shared/lib/form/cooldown'
import { useSubmit } from '@/shared/lib/form/use-submit'
import { paths } from '@/shared/lib/page/paths'
import { useAuth } from '@/shared/lib/session/auth-store'
import { toast } from '@/shared/lib/toast/toast'
import { CodeEntry, useCodeEntry } from '@/shared/ui/code-entry'
import { registerDraft } from './auth-flow'
import { AuthFooter, AuthPage } from './auth-page'
import { type RegisterForm, register, requestOtp } from './calls'
import { FootLink } from './foot-link'

/** The code step of the registration; without the form filled before, it redirects to the form. */
export default function OtpPage() {
  const { noTelp: telp = '' } = useParams()
  const [draft] = useState(() => registerDraft.readFor(telp))
  if (!draft) return <Navigate to={paths.register} replace />
  return <OtpForm draft={draft} />
}

function OtpForm({ draft }: { draft: RegisterForm }) {
  const navigate = useNavigate()

  const entry = useCodeEntry('register', draft.telp)
  const sending = useSubmit(async (code: string) => {
    const { token } = await register(draft, code)
    forgetCode('register', draft.telp)
    toast.success(copy.register.done)
    useAuth.getState().signIn(token)
  }, failed)
  const resending = useSubmit(async () => {
    await requestOtp(draft.telp)
    entry.resent()
  }, showFailure)

  function failed(error: unknown): void {
    showFailure(error, failureTexts)
    const failure = asApiError(error)
    if (failure.message === copy.otp.invalid) entry.refused()
    const next = afterFailure(failure)
    if (next) navigate(next)
  }

  return (
    <AuthPage title={copy.otp.title} back={paths.register}>
      <CodeEntry
        entry={entry}
        submitLabel={copy.auth.register}
        autoSubmit
        sending={sending}
        resending={resending}
        footer={(submit) => (
          <AuthFooter>
            {submit}
            <FootLink question={copy.register.haveAccount} to={paths.login} label={copy.auth.logIn} />
          </AuthFooter>
        )}
      />
    </AuthPage>
  )
}

/** The registration no longer exists, or never did (docs/product.md §8). */
const isLost = ({ status, message }: ApiError) => message === copy.otp.recordNotFound || status === 400

function failureTexts(error: ApiError) {
  if (error.message === copy.otp.invalid) return { title: copy.otp.invalid, body: copy.otp.checkCode }
  return isLost(error) ? { title: copy.otp.systemErrorRetry } : explain(error)
}

/** The address to go to; null to stay. */
function afterFailure(error: ApiError): string | null {
  if (error.message === copy.otp.invalid) return null
  if (isLost(error) || error.status === 409) return paths.login
  // A refused password can only be corrected in the form, and the code is not used up.
  return error.status === 422 ? paths.register : null
}
