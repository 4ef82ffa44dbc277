import { useState } from 'react'
import { Navigate, useNavigate, useParams } from 'react-router'
import { forgotPassword } from '@/shared/api/auth'
import { asApiError, explain } from '@/shared/api/error'
import { added } from '@/shared/copy/added'
import { spec } from '@/shared/copy/spec'
import { forgotCode } from '@/shared/lib/auth-flow'
import { forgetCode } from '@/shared/lib/cooldown'
import { paths } from '@/shared/lib/paths'
import { toast } from '@/shared/lib/toast'
import { useForm } from '@/shared/lib/use-form'
import { validReset } from '@/shared/lib/validate'
import { Button } from '@/shared/ui/button'
import styles from '@/shared/ui/form.module.css'
import { NewPasswordField } from '@/shared/ui/new-password-field'
import { Page } from '@/shared/ui/page'
import { PasswordField } from '@/shared/ui/password-field'
import { UsernameInput } from '@/shared/ui/username-input'

/** The new password; without the code typed before, it leads back to that step. */
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

  const { pending, form, field } = useForm(() => validReset({ password, repeat }), send)

  async function send(): Promise<void> {
    try {
      await forgotPassword(telp, otp, password)
      forgotCode.clear()
      forgetCode('forgot', telp)
      toast.success(spec.passwordReset)
      navigate(paths.login, { replace: true })
    } catch (error) {
      const { title, body } = explain(error)
      // Without an answer the same code may still be good: another try from here.
      if (asApiError(error).unanswered) return toast.failure(title, body)
      forgotCode.clear()
      toast.failure(spec.pleaseTryAgain, [spec.systemError, title])
      navigate(paths.forgotTelp, { replace: true })
    }
  }

  return (
    <Page title={added.forgot.passwordTitle} back={paths.forgotOtp(telp)}>
      <p className={styles.lead}>
        {added.forgot.passwordBody} <strong className="digits">+62{telp}</strong>
      </p>
      <form {...form} className={styles.form}>
        <UsernameInput telp={telp} />
        <div className={styles.fields}>
          <NewPasswordField
            {...field('password')}
            label={added.newPassword}
            value={password}
            onChange={(event) => setPassword(event.target.value)}
          />
          <PasswordField
            {...field('repeat')}
            label={added.repeatNewPassword}
            autoComplete="new-password"
            value={repeat}
            onChange={(event) => setRepeat(event.target.value)}
          />
        </div>
        <Button type="submit" pending={pending}>
          {spec.save}
        </Button>
      </form>
    </Page>
  )
}
