import type { ReactNode } from 'react'
import styles from './torn-card.module.css'

/** A receipt: a card whose lower edge is torn. */
export function TornCard({ className, children }: { className?: string | undefined; children: ReactNode }) {
  return (
    <div className={[styles.card, className].filter(Boolean).join(' ')}>
      <div className={styles.paper}>{children}</div>
      <svg className={styles.edge} width="100%" height="9" aria-hidden="true">
        <defs>
          <pattern id="torn" width="14" height="9" patternUnits="userSpaceOnUse">
            <path d="M0 0h14L7 8z" className={styles.fill} />
            <path d="M0 0l7 8 7-8" className={styles.stroke} />
          </pattern>
        </defs>
        <rect width="100%" height="9" fill="url(#torn)" />
      </svg>
    </div>
  )
}
