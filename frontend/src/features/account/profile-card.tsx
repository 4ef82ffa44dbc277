import { KeyRound, Pencil, Phone } from 'lucide-react'
import type { Account } from '@/shared/api/model'
import { added } from '@/shared/copy/added'
import { spec } from '@/shared/copy/spec'
import { formatDateTime } from '@/shared/lib/format'
import { fullName, initials } from '@/shared/lib/name'
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
          {added.common.loading}
        </span>
      )}
      <div className={styles.banner}>
        <Kawung />
        <span className={styles.avatar} aria-hidden="true">
          {name && initials(name)}
        </span>
        <span className={styles.identity}>
          <span className={styles.caption}>{spec.accountName}</span>
          {name ? <strong className={styles.name}>{name}</strong> : <Blank />}
        </span>
        <IconButton
          className={styles.edit}
          label={name ? added.account.changeName(name) : spec.changeName}
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
          label={added.whatsAppNumber}
          disabled={!account}
          onClick={onNumber}
        >
          {account ? <Telp telp={account.telp} /> : <Blank />}
        </Row>
        <Row
          icon={<KeyRound size={20} aria-hidden />}
          label={spec.changePassword}
          disabled={!account}
          onClick={onPassword}
        >
          {account ? (
            <>
              <span>{added.account.lastChanged}</span>{' '}
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
