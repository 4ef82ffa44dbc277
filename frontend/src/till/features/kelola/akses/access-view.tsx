import type { Me } from '@/till/api/types'
import styles from '../kelola.module.css'
import { ApiKeys } from './api-keys'
import { AuditLog } from './audit-log'

interface Props {
  me: Me
  idoutlet: number
  zone: string
}

/** Who may do what by a program, and what was done. */
export function AccessView({ me, idoutlet, zone }: Props) {
  return (
    <div className={styles.form}>
      {me.hak.includes('kunci.kelola') && <ApiKeys me={me} idoutlet={idoutlet} />}
      {me.hak.includes('audit.lihat') && <AuditLog idoutlet={idoutlet} zone={zone} />}
    </div>
  )
}
