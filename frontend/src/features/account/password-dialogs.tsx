import type { ChangeEvent } from 'react'
import { copy } from '@/shared/copy/copy'
import { useForm } from '@/shared/lib/form/use-form'
import { validPasswordChange } from '@/shared/lib/form/validate'
import { Button } from '@/shared/ui/button'
import { CodeEntry } from '@/shared/ui/code-entry'
import { Dialog, Foot } from '@/shared/ui/dialog'
import styles from '@/shared/ui/form.module.css'
import { NewPasswordField } from '@/shared/ui/new-password-field'
import { PasswordField } from '@/shared/ui/password-field'
import { UsernameInput } from '@/shared/ui/username-input'
import { type PasswordChange, useAskForCode, useCodeStep } from './use-password-change'

interface Props {
  change: PasswordChange
}

export function PasswordDialogs({ change }: Props) {
  if (change.step === 'form') return <PasswordDialog change={change} />
  if (change.step === 'code') return <VerifyDialog change={change} />
  return null
}

function PasswordDialog({ change }: Props) {
  const { telp, form: values, setForm } = change
  const { pending, submit } = useAskForCode(change)
  const { form, field } = useForm(() => validPasswordChange(values), submit)

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
      title={copy.account.changePassword}
      locked={pending}
      typed={Object.values(values).some(Boolean)}
    >
      <form {...form} className={styles.form}>
        <UsernameInput telp={telp} />
        <div className={styles.fields}>
          <PasswordField
            {...of('current')}
            data-initial
            label={copy.account.oldPassword}
            autoComplete="current-password"
          />
          <NewPasswordField {...of('next')} label={copy.form.newPassword} />
          <PasswordField {...of('repeat')} label={copy.form.repeatNewPassword} autoComplete="new-password" />
        </div>
        <Foot>
          <Button type="submit" pending={pending}>
            {copy.form.save}
          </Button>
        </Foot>
      </form>
    </Dialog>
  )
}

function VerifyDialog({ change }: Props) {
  const step = useCodeStep(change)
  return (
    <Dialog open onClose={change.toForm} title={copy.account.verifyChange}>
      <CodeEntry
        {...step}
        submitLabel={copy.form.save}
        autoSubmit
        footer={(submit) => <Foot>{submit}</Foot>}
      />
    </Dialog>
  )
}
