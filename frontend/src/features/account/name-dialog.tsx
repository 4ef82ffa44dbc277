import { useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { accountQuery, dashboardQuery, epayQuery } from '@/shared/api/dashboard'
import { useSend } from '@/shared/api/use-send'
import { copy } from '@/shared/copy/copy'
import { useForm } from '@/shared/lib/form/use-form'
import { nameFault } from '@/shared/lib/form/validate'
import { currentCustomer } from '@/shared/lib/session/auth-store'
import { toast } from '@/shared/lib/toast/toast'
import { Button } from '@/shared/ui/button'
import { Dialog, Foot } from '@/shared/ui/dialog'
import { Field } from '@/shared/ui/field'
import styles from '@/shared/ui/form.module.css'
import { updateName } from './calls'

/** Maximum length of a name that the server accepts, in letters. */
const NAME_MAX = 100

interface Props {
  name: string
  onClose: () => void
}

export function NameDialog({ name, onClose }: Props) {
  const [value, setValue] = useState(name)
  const client = useQueryClient()
  const { pending, submit } = useSend({
    send: () => updateName(value.trim()),
    onDone: () => {
      toast.success(copy.account.nameChanged)
      onClose()
      for (const { queryKey } of [accountQuery(currentCustomer()), dashboardQuery(), epayQuery()]) {
        void client.invalidateQueries({ queryKey })
      }
    },
  })

  const fault = nameFault(value)
  const complete = fault !== copy.form.nameTooShort
  const { form, field } = useForm<'nama'>(() => (fault === undefined ? {} : { nama: fault }), submit)

  return (
    <Dialog open onClose={onClose} title={copy.account.nameTitle} locked={pending} typed={value !== name}>
      <form {...form} className={styles.form}>
        <Field
          {...field('nama')}
          data-initial
          label={copy.form.accountName}
          autoComplete="name"
          autoCapitalize="words"
          maxLength={NAME_MAX}
          hint={copy.form.nameHint}
          value={value}
          disabled={pending}
          onChange={(event) => setValue(event.target.value)}
        />
        <Foot>
          <Button type="submit" disabled={!complete} pending={pending}>
            {copy.form.save}
          </Button>
        </Foot>
      </form>
    </Dialog>
  )
}
