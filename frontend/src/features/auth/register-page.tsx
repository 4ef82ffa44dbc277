import { useState } from 'react'
import { useNavigate } from 'react-router'
import { asApiError } from '@/shared/api/error'
import { showFailure } from '@/shared/api/show-failure'
import { copy } from '@/shared/copy/copy'
import { codeSent, cooldownLeft } from '@/shared/lib/form/cooldown'
import { useForm } from '@/shared/lib/form/use-form'
import { useSubmit } from '@/shared/lib/form/use-submit'
import { validRegister } from '@/shared/lib/form/validate'
import { paths } from '@/shared/lib/page/paths'
import { Button } from '@/shared/ui/button'
import { Field } from '@/shared/ui/field'
import styles from '@/shared/ui/form.module.css'
import { NewPasswordField } from '@/shared/ui/new-password-field'
import { PasswordField } from '@/shared/ui/password-field'
import { TelpField } from '@/shared/ui/telp-field'
import { keepOnlyOf, registerDraft } from './auth-flow'
import { AuthFooter, AuthPage } from './auth-page'
import { requestOtp } from './calls'
import { FootLink } from './foot-link'
import { registerCopy } from './register-copy'
import { useTypedTelp } from './typed-telp'

export default function RegisterPage() {
  const navigate = useNavigate()
  const [typed, setTyped] = useTypedTelp()
  const [fields, setFields] = useState(() => startFields(typed))
  const set = (part: Partial<typeof fields>) => setFields({ ...fields, ...part })

  const { pending, submit } = useSubmit(send, (error) => {
    showFailure(error)
    // Without an answer the outcome is unknown: the filled form stays.
    if (!asApiError(error).unanswered) navigate(paths.login)
  })
  const { form, field } = useForm(() => validRegister(fields), submit)

  async function send(): Promise<void> {
    const { telp, password, nama } = fields
    registerDraft.write({ telp, password, nama })
    if (cooldownLeft('register', telp) === 0) {
      await requestOtp(telp)
      codeSent('register', telp)
    }
    navigate(paths.otp(telp))
  }

  function setTelp(telp: string) {
    keepOnlyOf(telp)
    setTyped(telp)
    set({ telp })
  }

  return (
    <AuthPage title={copy.register.title} back={paths.welcome}>
      <form {...form} className={styles.form}>
        <p className={styles.lead}>{copy.register.body}</p>
        <div className={styles.fields}>
          <TelpField {...field('telp')} value={fields.telp} onChange={setTelp} />
          <NewPasswordField
            {...field('password')}
            label={copy.form.password}
            value={fields.password}
            onChange={(event) => set({ password: event.target.value })}
          />
          <PasswordField
            {...field('repeat')}
            label={copy.form.repeatPassword}
            autoComplete="new-password"
            value={fields.repeat}
            onChange={(event) => set({ repeat: event.target.value })}
          />
          <Field
            {...field('nama')}
            label={copy.form.accountName}
            autoComplete="name"
            autoCapitalize="words"
            placeholder={copy.form.exampleName}
            hint={copy.form.nameHint}
            maxLength={100}
            value={fields.nama}
            onChange={(event) => set({ nama: event.target.value })}
          />
        </div>
        <FootLink question={registerCopy.privacy} to={paths.privacy} label={registerCopy.readIt} />
        <AuthFooter>
          <Button type="submit" pending={pending}>
            {copy.auth.register}
          </Button>
          <FootLink question={copy.register.haveAccount} to={paths.login} label={copy.auth.logIn} />
        </AuthFooter>
      </form>
    </AuthPage>
  )
}

/** A customer who returns from the code step finds the form as it was. */
function startFields(typed: string) {
  const draft = typed ? registerDraft.readFor(typed) : registerDraft.read()
  return {
    telp: draft?.telp ?? typed,
    password: draft?.password ?? '',
    repeat: draft?.password ?? '',
    nama: draft?.nama ?? '',
  }
}
