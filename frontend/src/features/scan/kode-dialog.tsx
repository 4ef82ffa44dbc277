import { useState } from 'react'
import { added } from '@/shared/copy/added'
import { readCode } from '@/shared/lib/machine-code'
import { useForm } from '@/shared/lib/use-form'
import { Button } from '@/shared/ui/button'
import { Dialog } from '@/shared/ui/dialog'
import { Field } from '@/shared/ui/field'
import forms from '@/shared/ui/form.module.css'
import styles from './scan-page.module.css'

/** Long enough for a code typed with blanks in it. */
const KETIKAN_MAKS = 12

interface Props {
  open: boolean
  pending: boolean
  onClose: () => void
  onKode: (kode: string) => void
}

/** The code printed under the QR, for a broken camera or a scratched sticker. */
export function KodeDialog({ open, pending, onClose, onKode }: Props) {
  const [ketikan, setKetikan] = useState('')
  const kode = readCode(ketikan)
  const { form, field } = useForm<'kode'>(
    () => (kode ? {} : { kode: added.scan.wrongCode }),
    async () => {
      if (kode) onKode(kode)
    },
  )

  return (
    <Dialog
      open={open}
      onClose={() => {
        setKetikan('')
        onClose()
      }}
      title={added.scan.typeCode}
      typed={ketikan !== ''}
    >
      <form {...form} className={forms.form}>
        <Field
          {...field('kode')}
          data-initial
          label={added.scan.code}
          className={styles.code}
          hint={added.scan.codeHint}
          autoComplete="off"
          autoCapitalize="characters"
          autoCorrect="off"
          spellCheck={false}
          maxLength={KETIKAN_MAKS}
          value={ketikan}
          onChange={(event) => setKetikan(event.target.value)}
        />
        <Button type="submit" pending={pending}>
          {added.scan.search}
        </Button>
      </form>
    </Dialog>
  )
}
