import type { ReactNode } from 'react'
import styles from './spare-room.module.css'

/** Fills what room a page leaves with a drawing; where there is none, it is not there. */
export function SpareRoom({ children }: { children: ReactNode }) {
  return (
    <div className={styles.room}>
      <div className={styles.inside}>{children}</div>
    </div>
  )
}
