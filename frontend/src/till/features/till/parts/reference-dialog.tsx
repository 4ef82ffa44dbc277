import { useState } from 'react'
import { useForm } from '@/shared/lib/form/use-form'
import { Button } from '@/shared/ui/button'
import { Dialog } from '@/shared/ui/dialog'
import { Field } from '@/shared/ui/field'
import styles from './parts.module.css'
import { qris } from './parts-copy'

const LENGTH = 4

interface Props {
  nominal: number
  nama: string
  onClose: () => void
  /** The cashier has seen the payment. */
  onSeen: (ref_bayar: string) => void
}

/** QRIS without a provider: the cashier looks into the bank's app, and copies the end of the payment's reference. */
export function ReferenceDialog({ nominal, nama, onClose, onSeen }: Props) {
  const [typed, setTyped] = useState('')
  const { form, field } = useForm<'reference'>(
    () => (typed.length === LENGTH ? {} : { reference: qris.referenceWrong }),
    () => onSeen(typed),
  )
  return (
    <Dialog open onClose={onClose} title={qris.manualTitle}>
      <form {...form} className={styles.form}>
        <p>{qris.manualBody(nominal, nama)}</p>
        <Field
          label={qris.reference}
          {...field('reference')}
          hint={qris.referenceHint}
          value={typed}
          maxLength={LENGTH}
          autoComplete="off"
          autoCapitalize="characters"
          spellCheck={false}
          data-initial
          onChange={(event) => setTyped(event.target.value.toUpperCase().replace(/[^0-9A-Z]/g, ''))}
        />
        <Button type="submit">{qris.seen}</Button>
      </form>
    </Dialog>
  )
}
