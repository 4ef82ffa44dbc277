import { type FormEvent, useState } from 'react'
import { useNavigate } from 'react-router'
import { requestOtpForgot } from '@/shared/api/auth'
import { jelaskan } from '@/shared/api/error'
import { added } from '@/shared/copy/added'
import { spec } from '@/shared/copy/spec'
import { codeSent, cooldownLeft } from '@/shared/lib/cooldown'
import { paths } from '@/shared/lib/paths'
import { toast } from '@/shared/lib/toast'
import { useSubmit } from '@/shared/lib/use-submit'
import { validForgotTelp } from '@/shared/lib/validate'
import { Button } from '@/shared/ui/button'
import form from '@/shared/ui/form.module.css'
import { Page } from '@/shared/ui/page'
import { TelpField } from '@/shared/ui/telp-field'

export default function ForgotTelpPage() {
  const navigate = useNavigate()
  const [telp, setTelp] = useState('')

  const { pending, submit } = useSubmit(async () => {
    const fault = validForgotTelp({ telp })
    if (fault) return toast.gagal(fault)
    if (cooldownLeft('forgot', telp) > 0) return void navigate(paths.forgotOtp(telp))
    try {
      await requestOtpForgot(telp)
      codeSent('forgot', telp)
      navigate(paths.forgotOtp(telp))
    } catch (error) {
      const { judul, isi } = jelaskan(error)
      toast.gagal(judul, isi)
    }
  })

  function onSubmit(event: FormEvent) {
    event.preventDefault()
    submit()
  }

  return (
    <Page title={added.lupa.judulTelp} back={paths.login}>
      <p className={form.lead}>{added.lupa.isiTelp}</p>
      <form className={form.form} onSubmit={onSubmit} noValidate>
        <TelpField value={telp} onChange={setTelp} />
        <Button type="submit" pending={pending}>
          {spec.kirimKodeOtp}
        </Button>
      </form>
    </Page>
  )
}
