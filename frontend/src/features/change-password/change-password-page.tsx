import { type FormEvent, useState } from 'react'
import { Navigate, useNavigate, useParams } from 'react-router'
import { forgotPassword } from '@/shared/api/auth'
import { asApiError, jelaskan } from '@/shared/api/error'
import { added } from '@/shared/copy/added'
import { spec } from '@/shared/copy/spec'
import { forgotCode } from '@/shared/lib/auth-flow'
import { forgetCode } from '@/shared/lib/cooldown'
import { paths } from '@/shared/lib/paths'
import { toast } from '@/shared/lib/toast'
import { useSubmit } from '@/shared/lib/use-submit'
import { validReset } from '@/shared/lib/validate'
import { Button } from '@/shared/ui/button'
import form from '@/shared/ui/form.module.css'
import { Page } from '@/shared/ui/page'
import { PasswordField } from '@/shared/ui/password-field'

/** The new password; without the code typed before, it leads back to that step. */
export default function ChangePasswordPage() {
  const { noTelp: telp = '' } = useParams()
  const [kept] = useState(forgotCode.read)
  if (!kept || kept.telp !== telp) return <Navigate to={paths.forgotOtp(telp)} replace />
  return <ChangePasswordForm telp={telp} otp={kept.otp} />
}

function ChangePasswordForm({ telp, otp }: { telp: string; otp: string }) {
  const navigate = useNavigate()
  const [password, setPassword] = useState('')
  const [ulangi, setUlangi] = useState('')

  const { pending, submit } = useSubmit(async () => {
    const fault = validReset({ password, ulangi })
    if (fault) return toast.gagal(fault)
    try {
      await forgotPassword(telp, otp, password)
      forgotCode.clear()
      forgetCode('forgot', telp)
      toast.sukses(spec.sandiDiperbaruhi)
      navigate(paths.login, { replace: true })
    } catch (error) {
      const { judul, isi } = jelaskan(error)
      // Without an answer the same code may still be good: another try from here.
      if (asApiError(error).unanswered) return toast.gagal(judul, isi)
      forgotCode.clear()
      toast.gagal(spec.mohonCobaLagi, [spec.kesalahanSistem, judul])
      navigate(paths.forgotTelp, { replace: true })
    }
  })

  function onSubmit(event: FormEvent) {
    event.preventDefault()
    submit()
  }

  return (
    <Page title={added.lupa.judulSandi} back={paths.forgotOtp(telp)}>
      <p className={form.lead}>
        {added.lupa.isiSandi} <strong className="angka">+62{telp}</strong>
      </p>
      <form className={form.form} onSubmit={onSubmit} noValidate>
        <div className={form.fields}>
          <PasswordField
            label={added.kataSandiBaru}
            name="password"
            autoComplete="new-password"
            hint={added.petunjukSandi}
            value={password}
            onChange={(event) => setPassword(event.target.value)}
          />
          <PasswordField
            label={added.ulangiKataSandiBaru}
            name="ulangi"
            autoComplete="new-password"
            value={ulangi}
            onChange={(event) => setUlangi(event.target.value)}
          />
        </div>
        <Button type="submit" pending={pending}>
          {spec.simpan}
        </Button>
      </form>
    </Page>
  )
}
