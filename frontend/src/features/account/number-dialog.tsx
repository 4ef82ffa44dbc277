import type { Account } from '@/shared/api/model'
import { copy } from '@/shared/copy/copy'
import { Button } from '@/shared/ui/button'
import { Dialog, Foot } from '@/shared/ui/dialog'
import { Telp } from '@/shared/ui/telp'
import styles from './akun-page.module.css'

/** Explains that the number cannot be changed for now, and what to do instead. */
export function NumberDialog({
  open,
  account,
  onClose,
}: {
  open: boolean
  account: Account
  onClose: () => void
}) {
  return (
    <Dialog open={open} onClose={onClose} title={copy.form.whatsAppNumber}>
      <div className={styles.notice}>
        <p className={styles.number}>
          <Telp telp={account.telp} />
        </p>
        <p className={styles.muted}>{copy.account.numberFixedBody}</p>
      </div>
      <Foot>
        <Button onClick={onClose}>{copy.account.understood}</Button>
      </Foot>
    </Dialog>
  )
}
