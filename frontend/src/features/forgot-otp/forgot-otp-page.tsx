import { useNavigate, useParams } from 'react-router'
import { requestOtpForgot } from '@/shared/api/auth'
import { added } from '@/shared/copy/added'
import { spec } from '@/shared/copy/spec'
import { forgotCode } from '@/shared/lib/auth-flow'
import { paths } from '@/shared/lib/paths'
import { CodeEntry } from '@/shared/ui/code-entry'
import { Page } from '@/shared/ui/page'

/** Takes the code and carries it on to /changePassword, which sends it; nothing is asked of the server here. */
export default function ForgotOtpPage() {
  const { noTelp: telp = '' } = useParams()
  const navigate = useNavigate()

  async function keep(otp: string): Promise<boolean> {
    forgotCode.write({ telp, otp })
    navigate(paths.changePassword(telp))
    return true
  }

  return (
    <Page title={added.forgot.otpTitle} back={paths.forgotTelp}>
      <CodeEntry
        purpose="forgot"
        telp={telp}
        submitLabel={spec.save}
        onSubmit={keep}
        resend={() => requestOtpForgot(telp)}
      />
    </Page>
  )
}
