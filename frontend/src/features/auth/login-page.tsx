import { useState } from 'react'
import { Link } from 'react-router'
import { type ApiError, asApiError, explain, explanation } from '@/shared/api/error'
import { showFailure } from '@/shared/api/show-failure'
import { copy } from '@/shared/copy/copy'
import { useForm } from '@/shared/lib/form/use-form'
import { useSubmit } from '@/shared/lib/form/use-submit'
import { validLogin } from '@/shared/lib/form/validate'
import { paths } from '@/shared/lib/page/paths'
import { useAuth } from '@/shared/lib/session/auth-store'
import { Button } from '@/shared/ui/button'
import styles from '@/shared/ui/form.module.css'
import { PasswordField } from '@/shared/ui/password-field'
import { TelpField } from '@/shared/ui/telp-field'
import { warmToaster } from '@/shared/ui/toast-host'
import { AuthFooter, AuthPage } from './auth-page'
import { login } from './calls'
import { FootLink } from './foot-link'
import { useTypedTelp } from './typed-telp'

export default function LoginPage() {
  const [telp, setTelp] = useTypedTelp()
  const [password, setPassword] = useState('')

  const { pending, submit } = useSubmit(async () => {
    const { token } = await login(telp, password)
    // The guard redirects to the dashboard as soon as there is a token.
    useAuth.getState().signIn(token)
  }, failed)
  const { form, field, refuse } = useForm(() => validLogin({ telp, password }), submit)

  function failed(error: unknown): void {
    showFailure(error, failureTexts)
    const { message, status } = asApiError(error)
    if (message === copy.login.passwordIncorrect) refuse('password')
    else if (status === 404) refuse('telp')
  }

  return (
    <AuthPage title={copy.login.title} back={paths.welcome}>
      <form {...form} className={styles.form} onFocus={warmToaster}>
        <div className={styles.fields}>
          <TelpField {...field('telp')} value={telp} onChange={setTelp} />
          <PasswordField
            {...field('password')}
            label={copy.form.password}
            autoComplete="current-password"
            value={password}
            onChange={(event) => setPassword(event.target.value)}
          />
        </div>
        <Link className={`${styles.link} ${styles.linkEnd}`} to={paths.forgotTelp}>
          {copy.auth.forgotPassword}
        </Link>
        <AuthFooter>
          <Button type="submit" pending={pending}>
            {copy.auth.logIn}
          </Button>
          <FootLink question={copy.login.noAccountYet} to={paths.register} label={copy.auth.register} />
        </AuthFooter>
      </form>
    </AuthPage>
  )
}

/** `password is incorrect` as it is, any other answer `Akun tidak ditemukan` (docs/product.md §8). */
function failureTexts(error: ApiError) {
  if (error.message === copy.login.passwordIncorrect) {
    return { title: copy.login.passwordIncorrect, body: copy.login.tryOtherPassword }
  }
  if (error.unanswered) return explain(error)
  const body = error.status === 404 ? copy.login.tryOtherNumber : explanation(error)
  return { title: copy.login.accountNotFound, body }
}
