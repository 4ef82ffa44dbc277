import type { ReactNode } from 'react'
import styles from './empty.module.css'

interface Props {
  title: string
  body?: string | undefined
  /** At most one button. */
  action?: ReactNode
}

/** An empty state: the line drawing of an empty porthole, a sentence, at most one button. */
export function Empty({ title, body, action }: Props) {
  return (
    <div className={styles.empty}>
      <svg className={styles.drawing} viewBox="0 0 120 120" fill="none" aria-hidden="true">
        <g stroke="currentColor" strokeWidth="2.5" strokeLinecap="round">
          <rect x="14" y="8" width="92" height="104" rx="16" />
          <path d="M14 32h92" />
          <circle cx="30" cy="20" r="3.5" />
          <path d="M44 20h12" />
          <circle cx="60" cy="72" r="29" />
          <circle cx="60" cy="72" r="21" />
          <path d="M47 66a15 15 0 0 1 7-8" />
        </g>
      </svg>
      <p className={styles.title}>{title}</p>
      {body && <p className={styles.body}>{body}</p>}
      {action && <div className={styles.action}>{action}</div>}
    </div>
  )
}
