import { useState } from 'react'
import { Navigate, useNavigate, useParams } from 'react-router'
import { type ApiError, asApiError, explain } from '@/shared/api/error'
import { showFailure } from '@/shared/api/show-failure'
import { copy } from '@/shared/copy/copy'
import { forgetCode } from '@/shared/lib/form/cooldown'
import { useForm } from '@/shared/lib/form/use-form'
import { useSubmit } from '@/shared/lib/form/use-submit'
import { validReset } from '@/shared/lib/form/validate'
import { paths } from '@/shared/lib/page/paths'
import { toast } from '@/shared/lib/toast/toast'
import { Button } from '@/shared/ui/button'
import styles from '@/shared/ui/form.module.css'
import { NewPasswordField } from '@/shared/ui/new-password-field'
import { PasswordField } from '@/shared/ui/password-field'
import { Telp } from '@/shared/ui/telp'
import { UsernameInput } from '@/shared/ui/username-input'
import { forgotCode } from './auth-flow'
import { AuthFooter, AuthPage } from './auth-page'
import { forgotPassword } from './calls'

/** The form for the new password; without the code typed before, it redirects to that step. */
export default function ChangePasswordPage() {
  const { noTelp: telp = '' } = useParams()
  const [kept] = useState(() => forgotCode.readFor(telp))
  if (!kept) return <Navigate to={paths.forgotOtp(telp)} replace />
  return <ChangePasswordForm telp={telp} otp={kept.otp} />
}

function ChangePasswordForm({ telp, otp }: { telp: string; otp: string }) {
  const navigate = useNavigate()
  const [password, setPassword] = useState('')
  const [repeat, setRepeat] = useState('')

  const { pending, submit } = useSubmit(send, failed)
  const { form, field } = useForm(() => validReset({ password, repeat }), submit)

  async function send(): Promise<void> {
    await forgotPassword(telp, otp, password)
    forgotCode.clear()
    forgetCode('forgot', telp)
    toast.success(copy.forgot.done)
    navigate(paths.login, { replace: true })
  }

  function failed(error: unknown): void {
    showFailure(error, failureTexts)
    // Without an answer the same code may still be valid: the customer may retry from here.
    if (asApiError(error).unanswered) return
    forgotCode.clear()
    navigate(paths.forgotTelp, { replace: true })
  }

  return (
    <AuthPage title={copy.forgot.passwordTitle} back={paths.forgotOtp(telp)}>
      <form {...form} className={styles.form}>
        <p className={styles.lead}>
          {copy.forgot.passwordBody}{' '}
          <strong>
            <Telp telp={telp} />
          </strong>
        </p>
        <UsernameInput telp={telp} />
        <div className={styles.fields}>
          <NewPasswordField
            {...field('password')}
            label={copy.form.newPassword}
            value={password}
            onChange={(event) => setPassword(event.target.value)}
          />
          <PasswordField
            {...field('repeat')}
            label={copy.form.repeatNewPassword}
            autoComplete="new-password"
            value={repeat}
            onChange={(event) => setRepeat(event.target.value)}
          />
        </div>
        <AuthFooter>
          <Button type="submit" pending={pending}>
            {copy.form.save}
          </Button>
        </AuthFooter>
      </form>
    </AuthPage>
  )
}

/** docs/product.md §8. */
function failureTexts(error: ApiError) {
  const text = explain(error)
  return error.unanswered
    ? text
    : { title: copy.forgot.tryAgain, body: [copy.forgot.systemError, text.title] }
}
