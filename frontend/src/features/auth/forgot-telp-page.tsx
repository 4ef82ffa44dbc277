import { useNavigate } from 'react-router'
import { showFailure } from '@/shared/api/show-failure'
import { copy } from '@/shared/copy/copy'
import { codeSent, cooldownLeft } from '@/shared/lib/form/cooldown'
import { useForm } from '@/shared/lib/form/use-form'
import { useSubmit } from '@/shared/lib/form/use-submit'
import { validForgotTelp } from '@/shared/lib/form/validate'
import { paths } from '@/shared/lib/page/paths'
import { Button } from '@/shared/ui/button'
import styles from '@/shared/ui/form.module.css'
import { TelpField } from '@/shared/ui/telp-field'
import { keepOnlyOf } from './auth-flow'
import { AuthFooter, AuthPage } from './auth-page'
import { requestOtpForgot } from './calls'
import { useTypedTelp } from './typed-telp'

export default function ForgotTelpPage() {
  const navigate = useNavigate()
  const [telp, setTelp] = useTypedTelp()

  const { pending, submit } = useSubmit(async () => {
    keepOnlyOf(telp)
    if (cooldownLeft('forgot', telp) === 0) {
      await requestOtpForgot(telp)
      codeSent('forgot', telp)
    }
    navigate(paths.forgotOtp(telp))
  }, showFailure)
  const { form, field } = useForm(() => validForgotTelp({ telp }), submit)

  return (
    <AuthPage title={copy.forgot.telpTitle} back={paths.login}>
      <form {...form} className={styles.form}>
        <p className={styles.lead}>{copy.forgot.telpBody}</p>
        <TelpField {...field('telp')} value={telp} onChange={setTelp} />
        <AuthFooter>
          <Button type="submit" pending={pending}>
            {copy.otp.send}
          </Button>
        </AuthFooter>
      </form>
    </AuthPage>
  )
}
