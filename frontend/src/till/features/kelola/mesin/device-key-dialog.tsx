import { Copy, Download } from 'lucide-react'
import { saveFile } from '@/shared/lib/page/save-file'
import { Button } from '@/shared/ui/button'
import { Dialog, Foot } from '@/shared/ui/dialog'
import type { DeviceLogin } from '@/till/api/shop-calls'
import { Qr } from '@/till/ui/qr'
import { Rows } from '@/till/ui/rows'
import { copyText } from '../copy-text'
import styles from '../kelola.module.css'
import { mesin } from './mesin-copy'

/** Bytes that the largest QR code of level M holds: with several authorities the key is longer. */
const MAX_QR_BYTES = 2_331

interface Props {
  login: DeviceLogin
  name: string
  onClose: () => void
}

/** A new key of a machine's device, shown once: the line that `nyala device add` prints, as a code, a file and a text. */
export function DeviceKeyDialog({ login, name, onClose }: Props) {
  const line = JSON.stringify(login)
  return (
    <Dialog open onClose={onClose} title={mesin.keyTitle(name)}>
      <p className={styles.note}>{mesin.keyOnce}</p>
      {line.length <= MAX_QR_BYTES && <Qr text={line} label={mesin.keyQr(name)} className={styles.qr} />}
      <Rows
        rows={[
          [mesin.keyHost, `${login.host}:${login.port}`],
          [mesin.keyUser, login.user],
          [mesin.keySecret, login.secret],
        ]}
      />
      <Foot>
        <Button
          icon={<Download size={18} aria-hidden />}
          onClick={() =>
            saveFile(mesin.keyFile(login.idmesin), new Blob([`${line}\n`], { type: 'application/json' }))
          }
        >
          {mesin.download}
        </Button>
        <Button
          variant="secondary"
          icon={<Copy size={18} aria-hidden />}
          onClick={() => void copyText(line, mesin.copied, mesin.notCopied)}
        >
          {mesin.copy}
        </Button>
      </Foot>
    </Dialog>
  )
}
