import { useState } from 'react'
import { Navigate, useNavigate, useParams } from 'react-router'
import { type RegisterForm, register, requestOtp } from '@/shared/api/auth'
import { asApiError, explain } from '@/shared/api/error'
import { added } from '@/shared/copy/added'
import { spec } from '@/shared/copy/spec'
import { registerDraft } from '@/shared/lib/auth-flow'
import { useAuth } from '@/shared/lib/auth-store'
import { forgetCode } from '@/shared/lib/cooldown'
import { paths } from '@/shared/lib/paths'
import { toast } from '@/shared/lib/toast'
import { CodeEntry } from '@/shared/ui/code-entry'
import { FootLink } from '@/shared/ui/foot-link'
import { Page } from '@/shared/ui/page'

/** The code step of the registration; without the form filled before, it leads back to it. */
export default function OtpPage() {
  const { noTelp: telp = '' } = useParams()
  const [draft] = useState(() => registerDraft.readFor(telp))
  if (!draft) return <Navigate to={paths.register} replace />
  return <OtpForm draft={draft} />
}

function OtpForm({ draft }: { draft: RegisterForm }) {
  const navigate = useNavigate()

  async function submit(code: string): Promise<boolean> {
    try {
      const { token } = await register(draft, code)
      forgetCode('register', draft.telp)
      toast.success(spec.registered)
      useAuth.getState().signIn(token)
      return true
    } catch (error) {
      const next = afterFailure(error)
      if (next) navigate(next)
      return asApiError(error).message !== spec.otpInvalid
    }
  }

  return (
    <Page title={added.otp.title} back={paths.register}>
      <CodeEntry
        purpose="register"
        telp={draft.telp}
        submitLabel={spec.register}
        autoSubmit
        onSubmit={submit}
        resend={() => requestOtp(draft.telp)}
      />
      <FootLink question={added.register.haveAccount} to={paths.login} label={spec.logIn} />
    </Page>
  )
}

/** Tells what went wrong (docs/product.md §8) and says where to go on, null to stay. */
function afterFailure(error: unknown): string | null {
  const { status, message } = asApiError(error)
  const { title, body } = explain(error)
  if (message === spec.otpInvalid) {
    toast.failure(spec.otpInvalid, added.otp.checkCode)
    return null
  }
  if (message === spec.recordNotFound || status === 400) {
    toast.failure(spec.systemErrorRetry)
    return paths.login
  }
  toast.failure(title, body)
  if (status === 409) return paths.login
  // A refused password: the form is where it can be mended, and the code is not used up.
  return status === 422 ? paths.register : null
}
