import { useState } from 'react'
import { useNavigate } from 'react-router'
import { requestOtpForgot } from '@/shared/api/auth'
import { explain } from '@/shared/api/error'
import { added } from '@/shared/copy/added'
import { spec } from '@/shared/copy/spec'
import { keepOnlyOf } from '@/shared/lib/auth-flow'
import { codeSent, cooldownLeft } from '@/shared/lib/cooldown'
import { paths } from '@/shared/lib/paths'
import { toast } from '@/shared/lib/toast'
import { useForm } from '@/shared/lib/use-form'
import { validForgotTelp } from '@/shared/lib/validate'
import { Button } from '@/shared/ui/button'
import styles from '@/shared/ui/form.module.css'
import { Page } from '@/shared/ui/page'
import { TelpField } from '@/shared/ui/telp-field'

export default function ForgotTelpPage() {
  const navigate = useNavigate()
  const [telp, setTelp] = useState('')

  const { pending, form, field } = useForm(() => validForgotTelp({ telp }), send)

  async function send(): Promise<void> {
    keepOnlyOf(telp)
    if (cooldownLeft('forgot', telp) > 0) return void navigate(paths.forgotOtp(telp))
    try {
      await requestOtpForgot(telp)
      codeSent('forgot', telp)
      navigate(paths.forgotOtp(telp))
    } catch (error) {
      const { title, body } = explain(error)
      toast.failure(title, body)
    }
  }

  return (
    <Page title={added.forgot.telpTitle} back={paths.login}>
      <p className={styles.lead}>{added.forgot.telpBody}</p>
      <form {...form} className={styles.form}>
        <TelpField {...field('telp')} value={telp} onChange={setTelp} />
        <Button type="submit" pending={pending}>
          {spec.sendCode}
        </Button>
      </form>
    </Page>
  )
}
