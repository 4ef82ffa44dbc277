import { useNavigate, useParams } from 'react-router'
import { showFailure } from '@/shared/api/show-failure'
import { copy } from '@/shared/copy/copy'
import { useSubmit } from '@/shared/lib/form/use-submit'
import { paths } from '@/shared/lib/page/paths'
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
  }, showFailure)

  function keep(otp: string): void {
    forgotCode.write({ telp, otp })
    navigate(paths.changePassword(telp))
  }

  return (
    <AuthPage title={copy.forgot.otpTitle} back={paths.forgotTelp}>
      <CodeEntry
        entry={entry}
        submitLabel={copy.form.save}
        sending={{ pending: false, submit: keep }}
        resending={resending}
        footer={(submit) => <AuthFooter>{submit}</AuthFooter>}
      />
    </AuthPage>
  )
}
