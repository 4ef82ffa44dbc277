import type { AnchorHTMLAttributes } from 'react'
import type { Elements } from '@/shared/ui/elements'
import styles from './button.module.css'

interface Props extends AnchorHTMLAttributes<HTMLAnchorElement> {
  icon?: Elements
}

/** A link to another app or site that looks like the screen's main button. */
export function ButtonLink({ icon, children, ...link }: Props) {
  return (
    <a {...link} className={`${styles.button} ${styles.primary}`}>
      <span className={styles.label}>
        {icon}
        <span>{children}</span>
      </span>
    </a>
  )
}
