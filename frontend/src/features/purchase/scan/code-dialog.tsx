import { useState } from 'react'
import { copy } from '@/shared/copy/copy'
import { useForm } from '@/shared/lib/form/use-form'
import { Button } from '@/shared/ui/button'
import { Dialog, Foot } from '@/shared/ui/dialog'
import { Field } from '@/shared/ui/field'
import forms from '@/shared/ui/form.module.css'
import { readCode } from './machine-code'
import styles from './scan-page.module.css'

/** Maximum length, enough for a code typed with blanks in it. */
const TYPED_MAX = 12

interface Props {
  open: boolean
  pending: boolean
  onClose: () => void
  onCode: (code: string) => void
}

/** Dialog for the code printed under the QR, for a broken camera or a scratched sticker. */
export function CodeDialog({ open, pending, onClose, onCode }: Props) {
  const [typed, setTyped] = useState('')
  const code = readCode(typed)
  const { form, field } = useForm<'code'>(
    () => (code ? {} : { code: copy.scan.wrongCode }),
    () => {
      if (code) onCode(code)
    },
  )

  return (
    <Dialog
      open={open}
      onClose={() => {
        setTyped('')
        onClose()
      }}
      title={copy.scan.typeCode}
      typed={typed !== ''}
    >
      <form {...form} className={forms.form}>
        <Field
          {...field('code')}
          data-initial
          label={copy.scan.code}
          className={styles.code}
          hint={copy.scan.codeHint}
          autoComplete="off"
          autoCapitalize="characters"
          autoCorrect="off"
          spellCheck={false}
          maxLength={TYPED_MAX}
          value={typed}
          onChange={(event) => setTyped(event.target.value)}
        />
        <Foot>
          <Button type="submit" pending={pending}>
            {copy.scan.search}
          </Button>
        </Foot>
      </form>
    </Dialog>
  )
}
