import { type FormEvent, useState } from 'react'
import { updateName } from '@/shared/api/account'
import { explain } from '@/shared/api/error'
import { added } from '@/shared/copy/added'
import { spec } from '@/shared/copy/spec'
import { toast } from '@/shared/lib/toast'
import { useSubmit } from '@/shared/lib/use-submit'
import { isFullName } from '@/shared/lib/validate'
import { Button } from '@/shared/ui/button'
import { Dialog } from '@/shared/ui/dialog'
import { Field } from '@/shared/ui/field'
import form from '@/shared/ui/form.module.css'

/** Letters of a name, as the server takes it. */
const NAME_MAX = 100

interface Props {
  name: string
  onClose: () => void
  onSaved: () => void
}

export function NameDialog({ name, onClose, onSaved }: Props) {
  const [value, setValue] = useState(name)
  const { pending, submit } = useSubmit(async () => {
    try {
      await updateName(value.trim())
      toast.success(spec.nameChanged)
      onSaved()
    } catch (error) {
      const { title, body } = explain(error)
      toast.failure(title, body)
    }
  })

  function onSubmit(event: FormEvent) {
    event.preventDefault()
    if (isFullName(value)) submit()
  }

  return (
    <Dialog open onClose={onClose} title={spec.changeName} locked={pending} typed={value !== name}>
      <form className={form.form} onSubmit={onSubmit} noValidate>
        <Field
          data-initial
          label={spec.accountName}
          name="nama"
          autoComplete="name"
          autoCapitalize="words"
          maxLength={NAME_MAX}
          hint={added.nameHint}
          value={value}
          disabled={pending}
          onChange={(event) => setValue(event.target.value)}
        />
        <Button type="submit" disabled={!isFullName(value)} pending={pending}>
          {spec.save}
        </Button>
      </form>
    </Dialog>
  )
}
