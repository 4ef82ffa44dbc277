import { KeyRound, Pencil, Phone } from 'lucide-react'
import type { Account } from '@/shared/api/model'
import { copy } from '@/shared/copy/copy'
import { formatDateTime } from '@/shared/lib/text/format'
import { fullName, initials } from '@/shared/lib/text/name'
import choices from '@/shared/ui/choice.module.css'
import { IconButton } from '@/shared/ui/icon-button'
import { Kawung } from '@/shared/ui/kawung'
import { Telp } from '@/shared/ui/telp'
import styles from './akun-page.module.css'
import { PushSwitch } from './push-switch'
import { Row } from './row'

interface Props {
  /** Undefined while it is being fetched. */
  account: Account | undefined
  onNumber: () => void
  onName: () => void
  onPassword: () => void
}

export function ProfileCard({ account, onNumber, onName, onPassword }: Props) {
  const name = account && fullName(account)
  return (
    <div aria-busy={!account}>
      {!account && (
        <span className="visually-hidden" role="status">
          {copy.common.loading}
        </span>
      )}
      <div className={styles.banner}>
        <Kawung />
        <span className={styles.avatar} aria-hidden="true">
          {name && initials(name)}
        </span>
        <span className={styles.identity}>
          <span className={styles.caption}>{copy.form.accountName}</span>
          {name ? <strong className={styles.name}>{name}</strong> : <Blank />}
        </span>
        <IconButton
          className={styles.edit}
          label={name ? copy.account.changeName(name) : copy.account.nameTitle}
          aria-haspopup="dialog"
          disabled={!account}
          onClick={onName}
        >
          <Pencil size={22} aria-hidden />
        </IconButton>
      </div>
      <div className={`${choices.surface} ${styles.rows}`}>
        <Row
          icon={<Phone size={20} aria-hidden />}
          label={copy.form.whatsAppNumber}
          disabled={!account}
          onClick={onNumber}
        >
          {account ? <Telp telp={account.telp} /> : <Blank />}
        </Row>
        <Row
          icon={<KeyRound size={20} aria-hidden />}
          label={copy.account.changePassword}
          disabled={!account}
          onClick={onPassword}
        >
          {account ? (
            <>
              <span>{copy.account.lastChanged}</span>{' '}
              <span className="digits">{formatDateTime(account.updated_at)}</span>
            </>
          ) : (
            <Blank />
          )}
        </Row>
        <PushSwitch />
      </div>
    </div>
  )
}

/** A placeholder for a text. */
function Blank() {
  return <span className={styles.blank} aria-hidden="true" />
}
