import type { ChangeEvent } from 'react'
import { requestOtpPassword } from '@/shared/api/account'
import { added } from '@/shared/copy/added'
import { spec } from '@/shared/copy/spec'
import { useForm } from '@/shared/lib/use-form'
import { validPasswordChange } from '@/shared/lib/validate'
import { Button } from '@/shared/ui/button'
import { CodeEntry } from '@/shared/ui/code-entry'
import { Dialog } from '@/shared/ui/dialog'
import styles from '@/shared/ui/form.module.css'
import { NewPasswordField } from '@/shared/ui/new-password-field'
import { PasswordField } from '@/shared/ui/password-field'
import { UsernameInput } from '@/shared/ui/username-input'
import type { Sandi } from './use-sandi'

interface Props {
  telp: string
  sandi: Sandi
}

export function SandiDialogs({ telp, sandi }: Props) {
  if (sandi.step === 'form') return <SandiDialog telp={telp} sandi={sandi} />
  if (sandi.step === 'code') return <VerifikasiDialog telp={telp} sandi={sandi} />
  return null
}

function SandiDialog({ telp, sandi }: Props) {
  const { form: values, setForm } = sandi
  const { pending, form, field } = useForm(() => validPasswordChange(values), sandi.submitForm)

  const of = (name: keyof typeof values) => ({
    ...field(name),
    value: values[name],
    disabled: pending,
    onChange: (event: ChangeEvent<HTMLInputElement>) => setForm({ ...values, [name]: event.target.value }),
  })

  return (
    <Dialog
      open
      onClose={sandi.close}
      title={spec.changePassword}
      locked={pending}
      typed={Object.values(values).some(Boolean)}
    >
      <form {...form} className={styles.form}>
        <UsernameInput telp={telp} />
        <div className={styles.fields}>
          <PasswordField
            {...of('current')}
            data-initial
            label={added.account.oldPassword}
            autoComplete="current-password"
          />
          <NewPasswordField {...of('next')} label={added.newPassword} />
          <PasswordField {...of('repeat')} label={added.repeatNewPassword} autoComplete="new-password" />
        </div>
        <Button type="submit" pending={pending}>
          {spec.save}
        </Button>
      </form>
    </Dialog>
  )
}

function VerifikasiDialog({ telp, sandi }: Props) {
  return (
    <Dialog open onClose={sandi.toForm} title={spec.verifyChange}>
      <CodeEntry
        purpose="password"
        telp={telp}
        submitLabel={spec.save}
        autoSubmit
        onSubmit={sandi.submitCode}
        resend={requestOtpPassword}
      />
    </Dialog>
  )
}
