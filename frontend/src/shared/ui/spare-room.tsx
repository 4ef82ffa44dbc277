import type { ReactNode } from 'react'
import styles from './spare-room.module.css'

/** Fills the free space of a page with a drawing; without free space it is hidden. */
export function SpareRoom({ children }: { children: ReactNode }) {
  return (
    <div className={styles.room}>
      <div className={styles.inside}>{children}</div>
    </div>
  )
}
