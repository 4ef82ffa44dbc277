import { type FormEvent, useEffect, useRef } from 'react'
import { requestOtpPassword } from '@/shared/api/akun'
import { added } from '@/shared/copy/added'
import { spec } from '@/shared/copy/spec'
import { useSubmit } from '@/shared/lib/use-submit'
import { Button } from '@/shared/ui/button'
import { CodeEntry } from '@/shared/ui/code-entry'
import { Dialog } from '@/shared/ui/dialog'
import form from '@/shared/ui/form.module.css'
import { PasswordField } from '@/shared/ui/password-field'
import styles from './akun-page.module.css'
import type { Sandi } from './use-sandi'

interface Props {
  telp: string
  sandi: Sandi
}

export function SandiDialogs({ telp, sandi }: Props) {
  if (sandi.step === 'form') return <SandiDialog sandi={sandi} />
  if (sandi.step === 'code') return <VerifikasiDialog telp={telp} sandi={sandi} />
  return null
}

function SandiDialog({ sandi }: { sandi: Sandi }) {
  const { form: values, setForm } = sandi
  const { pending, submit } = useSubmit(sandi.submitForm)

  function onSubmit(event: FormEvent) {
    event.preventDefault()
    submit()
  }

  const field = (name: keyof typeof values, label: string, autoComplete: string, hint?: string) => (
    <PasswordField
      label={label}
      name={name}
      data-awal={name === 'lama' || undefined}
      autoComplete={autoComplete}
      hint={hint}
      value={values[name]}
      disabled={pending}
      onChange={(event) => setForm({ ...values, [name]: event.target.value })}
    />
  )

  return (
    <Dialog open onClose={sandi.close} title={spec.ubahKataSandi} locked={pending}>
      <form className={form.form} onSubmit={onSubmit} noValidate>
        <div className={form.fields}>
          {field('lama', added.akun.kataSandiLama, 'current-password')}
          {field('baru', added.kataSandiBaru, 'new-password', added.petunjukSandi)}
          {field('ulangi', added.ulangiKataSandiBaru, 'new-password')}
        </div>
        <Button type="submit" pending={pending}>
          {spec.simpan}
        </Button>
      </form>
    </Dialog>
  )
}

function VerifikasiDialog({ telp, sandi }: Props) {
  const body = useRef<HTMLDivElement>(null)
  useEffect(() => body.current?.querySelector('input')?.focus(), [])
  return (
    <Dialog open onClose={sandi.toForm} title={spec.verifikasiPerubahan}>
      <p className={styles.muted}>
        {added.otp.terkirim} <strong className="angka">+62{telp}</strong>
      </p>
      <div ref={body}>
        <CodeEntry
          purpose="password"
          telp={telp}
          submitLabel={spec.simpan}
          autoSubmit
          onSubmit={sandi.submitCode}
          resend={requestOtpPassword}
        />
      </div>
    </Dialog>
  )
}
