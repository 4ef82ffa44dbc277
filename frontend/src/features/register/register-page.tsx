import { type FormEvent, useState } from 'react'
import { useNavigate } from 'react-router'
import { requestOtp } from '@/shared/api/auth'
import { asApiError, jelaskan } from '@/shared/api/error'
import { added } from '@/shared/copy/added'
import { spec } from '@/shared/copy/spec'
import { registerDraft } from '@/shared/lib/auth-flow'
import { codeSent, cooldownLeft } from '@/shared/lib/cooldown'
import { paths } from '@/shared/lib/paths'
import { toast } from '@/shared/lib/toast'
import { useSubmit } from '@/shared/lib/use-submit'
import { validRegister } from '@/shared/lib/validate'
import { Button } from '@/shared/ui/button'
import { Field } from '@/shared/ui/field'
import { FootLink } from '@/shared/ui/foot-link'
import form from '@/shared/ui/form.module.css'
import { Page } from '@/shared/ui/page'
import { PasswordField } from '@/shared/ui/password-field'
import { TelpField } from '@/shared/ui/telp-field'

export default function RegisterPage() {
  const navigate = useNavigate()
  const [fields, setFields] = useState(startFields)
  const set = (part: Partial<typeof fields>) => setFields({ ...fields, ...part })

  const { pending, submit } = useSubmit(async () => {
    const fault = validRegister(fields)
    if (fault) return toast.gagal(fault)
    const { telp, password, nama } = fields
    registerDraft.write({ telp, password, nama })
    if (cooldownLeft('register', telp) > 0) return void navigate(paths.otp(telp))
    try {
      await requestOtp(telp)
      codeSent('register', telp)
      navigate(paths.otp(telp))
    } catch (error) {
      const { judul, isi } = jelaskan(error)
      toast.gagal(judul, isi)
      // Without an answer nothing is decided: the filled form stays.
      if (!asApiError(error).unanswered) navigate(paths.login)
    }
  })

  function onSubmit(event: FormEvent) {
    event.preventDefault()
    submit()
  }

  return (
    <Page title={added.register.judul} back={paths.welcome}>
      <p className={form.lead}>{added.register.isi}</p>
      <form className={form.form} onSubmit={onSubmit} noValidate>
        <div className={form.fields}>
          <TelpField value={fields.telp} onChange={(telp) => set({ telp })} />
          <PasswordField
            label={spec.kataSandi}
            name="password"
            autoComplete="new-password"
            hint={added.petunjukSandi}
            value={fields.password}
            onChange={(event) => set({ password: event.target.value })}
          />
          <PasswordField
            label={spec.ulangiKataSandi}
            name="ulangi"
            autoComplete="new-password"
            value={fields.ulangi}
            onChange={(event) => set({ ulangi: event.target.value })}
          />
          <Field
            label={spec.namaAkun}
            name="nama"
            autoComplete="name"
            autoCapitalize="words"
            placeholder={added.contohNama}
            hint={added.petunjukNama}
            maxLength={100}
            value={fields.nama}
            onChange={(event) => set({ nama: event.target.value })}
          />
        </div>
        <Button type="submit" pending={pending}>
          {spec.daftar}
        </Button>
      </form>
      <FootLink question={added.register.sudahPunya} to={paths.login} label={spec.masuk} />
    </Page>
  )
}

/** Somebody who comes back from the code step finds the form as it was. */
function startFields() {
  const draft = registerDraft.read()
  return {
    telp: draft?.telp ?? '',
    password: draft?.password ?? '',
    ulangi: draft?.password ?? '',
    nama: draft?.nama ?? '',
  }
}
