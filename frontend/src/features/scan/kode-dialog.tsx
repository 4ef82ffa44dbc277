import { type FormEvent, useState } from 'react'
import { added } from '@/shared/copy/added'
import { bacaKode } from '@/shared/lib/kode-mesin'
import { toast } from '@/shared/lib/toast'
import { Button } from '@/shared/ui/button'
import { Dialog } from '@/shared/ui/dialog'
import { Field } from '@/shared/ui/field'
import form from '@/shared/ui/form.module.css'
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

  function onSubmit(event: FormEvent) {
    event.preventDefault()
    const kode = bacaKode(ketikan)
    if (kode) onKode(kode)
    else toast.gagal(added.scan.kodeSalah, added.scan.kodeSalahIsi)
  }

  return (
    <Dialog open={open} onClose={onClose} title={added.scan.ketikKode}>
      <form className={form.form} onSubmit={onSubmit} noValidate>
        <Field
          data-awal
          label={added.scan.kode}
          name="kode"
          className={styles.kode}
          hint={added.scan.petunjukKode}
          autoComplete="off"
          autoCapitalize="characters"
          autoCorrect="off"
          spellCheck={false}
          maxLength={KETIKAN_MAKS}
          value={ketikan}
          onChange={(event) => setKetikan(event.target.value)}
        />
        <Button type="submit" pending={pending}>
          {added.scan.cari}
        </Button>
      </form>
    </Dialog>
  )
}
