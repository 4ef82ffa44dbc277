import { ChevronRight, KeyRound, Pencil, Phone } from 'lucide-react'
import type { ReactNode } from 'react'
import type { Account } from '@/shared/api/model'
import { added } from '@/shared/copy/added'
import { spec } from '@/shared/copy/spec'
import { formatDateTime } from '@/shared/lib/format'
import { fullName, initials } from '@/shared/lib/name'
import { Card } from '@/shared/ui/card'
import choices from '@/shared/ui/choice.module.css'
import { IconButton } from '@/shared/ui/icon-button'
import { Kawung } from '@/shared/ui/kawung'
import styles from './akun-page.module.css'

interface Props {
  /** Undefined while it is fetched. */
  akun: Account | undefined
  onNomor: () => void
  onNama: () => void
  onSandi: () => void
}

export function ProfileCard({ akun, onNomor, onNama, onSandi }: Props) {
  const nama = akun && fullName(akun)
  return (
    <div aria-busy={!akun}>
      {!akun && (
        <span className="visually-hidden" role="status">
          {added.common.loading}
        </span>
      )}
      <div className={styles.banner}>
        <Kawung className={styles.kawung} />
        <span className={styles.avatar} aria-hidden="true">
          {nama && initials(nama)}
        </span>
        <span className={styles.identity}>
          <span className={styles.caption}>{spec.accountName}</span>
          {nama ? <strong className={styles.name}>{nama}</strong> : <Blank />}
        </span>
        <IconButton
          className={styles.edit}
          label={nama ? added.account.changeName(nama) : spec.changeName}
          aria-haspopup="dialog"
          disabled={!akun}
          onClick={onNama}
        >
          <Pencil size={22} aria-hidden />
        </IconButton>
      </div>
      <Card className={styles.rows}>
        <Row
          icon={<Phone size={22} aria-hidden />}
          label={added.whatsAppNumber}
          disabled={!akun}
          onClick={onNomor}
        >
          {akun ? <span className="digits">+{akun.full_telp}</span> : <Blank />}
        </Row>
        <Row
          icon={<KeyRound size={22} aria-hidden />}
          label={spec.changePassword}
          disabled={!akun}
          onClick={onSandi}
        >
          {akun ? (
            <>
              {added.account.lastChanged} <span className="digits">{formatDateTime(akun.updated_at)}</span>
            </>
          ) : (
            <Blank />
          )}
        </Row>
      </Card>
    </div>
  )
}

interface RowProps {
  icon: ReactNode
  label: string
  disabled: boolean
  onClick: () => void
  children: ReactNode
}

function Row({ icon, label, disabled, onClick, children }: RowProps) {
  return (
    <button type="button" className={styles.row} disabled={disabled} aria-haspopup="dialog" onClick={onClick}>
      <span className={choices.tile}>{icon}</span>
      <span className={choices.text}>
        <span className={styles.rowLabel}>{label}</span>
        <span className={styles.rowValue}>{children}</span>
      </span>
      <ChevronRight className={choices.chevron} size={20} aria-hidden />
    </button>
  )
}

/** Where a text will be. */
function Blank() {
  return <span className={styles.blank} aria-hidden="true" />
}
