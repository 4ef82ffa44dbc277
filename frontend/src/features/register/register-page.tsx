import { useState } from 'react'
import { useNavigate } from 'react-router'
import { requestOtp } from '@/shared/api/auth'
import { asApiError, explain } from '@/shared/api/error'
import { added } from '@/shared/copy/added'
import { spec } from '@/shared/copy/spec'
import { keepOnlyOf, registerDraft } from '@/shared/lib/auth-flow'
import { codeSent, cooldownLeft } from '@/shared/lib/cooldown'
import { paths } from '@/shared/lib/paths'
import { toast } from '@/shared/lib/toast'
import { useForm } from '@/shared/lib/use-form'
import { validRegister } from '@/shared/lib/validate'
import { Button } from '@/shared/ui/button'
import { Field } from '@/shared/ui/field'
import { FootLink } from '@/shared/ui/foot-link'
import styles from '@/shared/ui/form.module.css'
import { NewPasswordField } from '@/shared/ui/new-password-field'
import { Page } from '@/shared/ui/page'
import { PasswordField } from '@/shared/ui/password-field'
import { TelpField } from '@/shared/ui/telp-field'

export default function RegisterPage() {
  const navigate = useNavigate()
  const [fields, setFields] = useState(startFields)
  const set = (part: Partial<typeof fields>) => setFields({ ...fields, ...part })

  const { pending, form, field } = useForm(() => validRegister(fields), send)

  async function send(): Promise<void> {
    const { telp, password, nama } = fields
    registerDraft.write({ telp, password, nama })
    if (cooldownLeft('register', telp) > 0) return void navigate(paths.otp(telp))
    try {
      await requestOtp(telp)
      codeSent('register', telp)
      navigate(paths.otp(telp))
    } catch (error) {
      const { title, body } = explain(error)
      toast.failure(title, body)
      // Without an answer nothing is decided: the filled form stays.
      if (!asApiError(error).unanswered) navigate(paths.login)
    }
  }

  function setTelp(telp: string) {
    keepOnlyOf(telp)
    set({ telp })
  }

  return (
    <Page title={added.register.title} back={paths.welcome}>
      <p className={styles.lead}>{added.register.body}</p>
      <form {...form} className={styles.form}>
        <div className={styles.fields}>
          <TelpField {...field('telp')} value={fields.telp} onChange={setTelp} />
          <NewPasswordField
            {...field('password')}
            label={spec.password}
            value={fields.password}
            onChange={(event) => set({ password: event.target.value })}
          />
          <PasswordField
            {...field('repeat')}
            label={spec.repeatPassword}
            autoComplete="new-password"
            value={fields.repeat}
            onChange={(event) => set({ repeat: event.target.value })}
          />
          <Field
            {...field('nama')}
            label={spec.accountName}
            autoComplete="name"
            autoCapitalize="words"
            placeholder={added.exampleName}
            hint={added.nameHint}
            maxLength={100}
            value={fields.nama}
            onChange={(event) => set({ nama: event.target.value })}
          />
        </div>
        <Button type="submit" pending={pending}>
          {spec.register}
        </Button>
      </form>
      <FootLink question={added.register.haveAccount} to={paths.login} label={spec.logIn} />
    </Page>
  )
}

/** Somebody who comes back from the code step finds the form as it was. */
function startFields() {
  const draft = registerDraft.read()
  return {
    telp: draft?.telp ?? '',
    password: draft?.password ?? '',
    repeat: draft?.password ?? '',
    nama: draft?.nama ?? '',
  }
}
