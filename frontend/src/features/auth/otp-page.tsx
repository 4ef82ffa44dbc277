import { useState } from 'react'
import { Navigate, useNavigate, useParams } from 'react-router'
import { type ApiError, asApiError, explain } from '@/shared/api/error'
import { tellFailure } from '@/shared/api/tell-failure'
import { added } from '@/shared/copy/added'
import { spec } from '@/shared/copy/spec'
import { useAuth } from '@/shared/lib/auth-store'
import { forgetCode } from '@/shared/lib/cooldown'
import { paths } from '@/shared/lib/paths'
import { toast } from '@/shared/lib/toast'
import { useSubmit } from '@/shared/lib/use-submit'
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
    toast.success(spec.registered)
    useAuth.getState().signIn(token)
  }, failed)
  const resending = useSubmit(async () => {
    await requestOtp(draft.telp)
    entry.resent()
  }, tellFailure)

  function failed(error: unknown): void {
    tellFailure(error, words)
    const failure = asApiError(error)
    if (failure.message === spec.otpInvalid) entry.refused()
    const next = afterFailure(failure)
    if (next) navigate(next)
  }

  return (
    <AuthPage title={added.otp.title} back={paths.register}>
      <CodeEntry
        entry={entry}
        submitLabel={spec.register}
        autoSubmit
        sending={sending}
        resending={resending}
        footer={(submit) => (
          <AuthFooter>
            {submit}
            <FootLink question={added.register.haveAccount} to={paths.login} label={spec.logIn} />
          </AuthFooter>
        )}
      />
    </AuthPage>
  )
}

/** The registration no longer exists, or never did (docs/product.md §8). */
const isLost = ({ status, message }: ApiError) => message === spec.recordNotFound || status === 400

function words(error: ApiError) {
  if (error.message === spec.otpInvalid) return { title: spec.otpInvalid, body: added.otp.checkCode }
  return isLost(error) ? { title: spec.systemErrorRetry } : explain(error)
}

/** The address to go to; null to stay. */
function afterFailure(error: ApiError): string | null {
  if (error.message === spec.otpInvalid) return null
  if (isLost(error) || error.status === 409) return paths.login
  // A refused password can only be corrected in the form, and the code is not used up.
  return error.status === 422 ? paths.register : null
}
