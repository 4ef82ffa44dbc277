import { useState } from 'react'
import { Link } from 'react-router'
import { type ApiError, asApiError, explain, explanation } from '@/shared/api/error'
import { tellFailure } from '@/shared/api/tell-failure'
import { added } from '@/shared/copy/added'
import { spec } from '@/shared/copy/spec'
import { useAuth } from '@/shared/lib/auth-store'
import { KEEP_CLEAR } from '@/shared/lib/free-place'
import { paths } from '@/shared/lib/paths'
import { useForm } from '@/shared/lib/use-form'
import { useSubmit } from '@/shared/lib/use-submit'
import { validLogin } from '@/shared/lib/validate'
import { Button } from '@/shared/ui/button'
import styles from '@/shared/ui/form.module.css'
import { PasswordField } from '@/shared/ui/password-field'
import { warmToaster } from '@/shared/ui/toast-host'
import { AuthFooter, AuthPage } from './auth-page'
import { login } from './calls'
import { FootLink } from './foot-link'
import { TelpField } from './telp-field'
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
    tellFailure(error, words)
    const { message, status } = asApiError(error)
    if (message === spec.passwordIncorrect) refuse('password')
    else if (status === 404) refuse('telp')
  }

  return (
    <AuthPage title={added.login.title} back={paths.welcome}>
      <form {...form} className={styles.form} onFocus={warmToaster}>
        <div className={styles.fields}>
          <TelpField {...field('telp')} value={telp} onChange={setTelp} />
          <PasswordField
            {...field('password')}
            label={spec.password}
            autoComplete="current-password"
            value={password}
            onChange={(event) => setPassword(event.target.value)}
          />
        </div>
        <Link className={`${styles.link} ${styles.linkEnd}`} to={paths.forgotTelp} {...KEEP_CLEAR}>
          {spec.forgotPassword}
        </Link>
        <AuthFooter>
          <Button type="submit" pending={pending}>
            {spec.logIn}
          </Button>
          <FootLink question={added.login.noAccountYet} to={paths.register} label={spec.register} />
        </AuthFooter>
      </form>
    </AuthPage>
  )
}

/** `password is incorrect` as it is, any other answer `Akun tidak ditemukan` (docs/product.md §8). */
function words(error: ApiError) {
  if (error.message === spec.passwordIncorrect) {
    return { title: spec.passwordIncorrect, body: added.login.tryOtherPassword }
  }
  if (error.unanswered) return explain(error)
  const body = error.status === 404 ? added.login.tryOtherNumber : explanation(error)
  return { title: spec.accountNotFound, body }
}
