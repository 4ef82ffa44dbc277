import { useNavigate, useParams } from 'react-router'
import { tellFailure } from '@/shared/api/tell-failure'
import { added } from '@/shared/copy/added'
import { spec } from '@/shared/copy/spec'
import { paths } from '@/shared/lib/paths'
import { useSubmit } from '@/shared/lib/use-submit'
import { CodeEntry, useCodeEntry } from '@/shared/ui/code-entry'
import { forgotCode } from './auth-flow'
import { AuthFooter, AuthPage } from './auth-page'
import { requestOtpForgot } from './calls'

/** Takes the code and passes it to /changePassword, which sends it; this screen sends no request. */
export default function ForgotOtpPage() {
  const { noTelp: telp = '' } = useParams()
  const navigate = useNavigate()

  const entry = useCodeEntry('forgot', telp)
  const resending = useSubmit(async () => {
    await requestOtpForgot(telp)
    entry.resent()
  }, tellFailure)

  function keep(otp: string): void {
    forgotCode.write({ telp, otp })
    navigate(paths.changePassword(telp))
  }

  return (
    <AuthPage title={added.forgot.otpTitle} back={paths.forgotTelp}>
      <CodeEntry
        entry={entry}
        submitLabel={spec.save}
        sending={{ pending: false, submit: keep }}
        resending={resending}
        footer={(submit) => <AuthFooter>{submit}</AuthFooter>}
      />
    </AuthPage>
  )
}
