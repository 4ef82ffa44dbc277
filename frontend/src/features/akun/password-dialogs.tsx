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
import type { PasswordChange } from './use-password-change'

interface Props {
  telp: string
  change: PasswordChange
}

export function PasswordDialogs({ telp, change }: Props) {
  if (change.step === 'form') return <PasswordDialog telp={telp} change={change} />
  if (change.step === 'code') return <VerifyDialog telp={telp} change={change} />
  return null
}

function PasswordDialog({ telp, change }: Props) {
  const { form: values, setForm } = change
  const { pending, form, field } = useForm(() => validPasswordChange(values), change.submitForm)

  const of = (name: keyof typeof values) => ({
    ...field(name),
    value: values[name],
    disabled: pending,
    onChange: (event: ChangeEvent<HTMLInputElement>) => setForm({ ...values, [name]: event.target.value }),
  })

  return (
    <Dialog
      open
      onClose={change.close}
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

function VerifyDialog({ telp, change }: Props) {
  return (
    <Dialog open onClose={change.toForm} title={spec.verifyChange}>
      <CodeEntry
        purpose="password"
        telp={telp}
        submitLabel={spec.save}
        autoSubmit
        onSubmit={change.submitCode}
        resend={requestOtpPassword}
      />
    </Dialog>
  )
}
