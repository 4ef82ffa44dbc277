import { useEffect, useState } from 'react'
import { Link } from 'react-router'
import { login } from '@/shared/api/auth'
import { asApiError, explain, explanation } from '@/shared/api/error'
import { added } from '@/shared/copy/added'
import { spec } from '@/shared/copy/spec'
import { useAuth } from '@/shared/lib/auth-store'
import { paths } from '@/shared/lib/paths'
import { toast } from '@/shared/lib/toast'
import { useForm } from '@/shared/lib/use-form'
import { validLogin } from '@/shared/lib/validate'
import { Button } from '@/shared/ui/button'
import { FootLink } from '@/shared/ui/foot-link'
import styles from '@/shared/ui/form.module.css'
import { Page } from '@/shared/ui/page'
import { PasswordField } from '@/shared/ui/password-field'
import { TelpField } from '@/shared/ui/telp-field'
import { warmToaster } from '@/shared/ui/toast-host'

export default function LoginPage() {
  const [telp, setTelp] = useState('')
  const [password, setPassword] = useState('')

  // The guard has brought somebody here whose session was refused; from now on it leads to `/` again.
  useEffect(() => useAuth.setState({ exit: paths.welcome }), [])

  const { pending, form, field, focus } = useForm(() => validLogin({ telp, password }), send)

  async function send(): Promise<void> {
    try {
      const { token } = await login(telp, password)
      // The guard leads on to the dashboard as soon as there is a token.
      useAuth.getState().signIn(token)
    } catch (error) {
      tellFailure(error)
      const { message, status } = asApiError(error)
      if (message === spec.passwordIncorrect) focus('password')
      else if (status === 404) focus('telp')
    }
  }

  return (
    <Page title={added.login.title} back={paths.welcome}>
      <p className={styles.lead}>{added.login.body}</p>
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
        <Link className={`${styles.link} ${styles.linkEnd}`} to={paths.forgotTelp}>
          {spec.forgotPassword}
        </Link>
        <Button type="submit" pending={pending}>
          {spec.logIn}
        </Button>
      </form>
      <FootLink question={added.login.noAccountYet} to={paths.register} label={spec.register} />
    </Page>
  )
}

/** `password is incorrect` as it is, any other answer `Akun tidak ditemukan` (docs/product.md §8). */
function tellFailure(error: unknown): void {
  const failure = asApiError(error)
  const { title, body } = explain(failure)
  if (failure.message === spec.passwordIncorrect) {
    toast.failure(spec.passwordIncorrect, added.login.tryOtherPassword)
  } else if (failure.unanswered) {
    toast.failure(title, body)
  } else if (failure.status === 404) {
    toast.failure(spec.accountNotFound, added.login.tryOtherNumber)
  } else {
    toast.failure(spec.accountNotFound, explanation(failure))
  }
}
