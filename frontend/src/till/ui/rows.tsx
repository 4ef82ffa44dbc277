import type { ReactNode } from 'react'
import styles from './rows.module.css'

/** Names and values, one a line; a line without a value is left out. */
export function Rows({ rows }: { rows: [name: string, value: ReactNode][] }) {
  return (
    <dl className={styles.rows}>
      {rows.map(([name, value]) =>
        value === null || value === '' ? null : (
          <div key={name} className={styles.row}>
            <dt>{name}</dt>
            <dd>{value}</dd>
          </div>
        ),
      )}
    </dl>
  )
}
