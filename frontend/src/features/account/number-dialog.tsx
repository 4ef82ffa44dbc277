import type { Account } from '@/shared/api/model'
import { copy } from '@/shared/copy/copy'
import { Button } from '@/shared/ui/button'
import { Dialog, Foot } from '@/shared/ui/dialog'
import { Telp } from '@/shared/ui/telp'
import styles from './akun-page.module.css'
import { dataCopy } from './data-copy'

/** Explains that the number cannot be changed for now, and leads to the move to a new one. */
export function NumberDialog({
  open,
  account,
  onClose,
  onMove,
}: {
  open: boolean
  account: Account
  onClose: () => void
  onMove: () => void
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
        <Button variant="quiet" onClick={onMove}>
          {dataCopy.move}
        </Button>
      </Foot>
    </Dialog>
  )
}
