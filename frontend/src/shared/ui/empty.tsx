import type { Elements } from '@/shared/ui/elements'
import styles from './empty.module.css'

interface Props {
  title: string
  body?: string | undefined
  /** At most one button. */
  action?: Elements
}

/** An empty state: the line drawing of an empty porthole, a sentence, at most one button. */
export function Empty({ title, body, action }: Props) {
  return (
    <div className={styles.empty}>
      <svg className={styles.drawing} viewBox="0 0 160 160" fill="none" aria-hidden="true">
        <g stroke="currentColor" strokeWidth="1.750" strokeLinecap="round">
          <path d="M153.700 62.200a77 77 0 1 0 0 35.600" />
          <circle cx="79" cy="80" r="64" />
          <path d="M34 65a48 48 0 0 1 22-27" />
          <rect x="146" y="63" width="12.500" height="34" rx="6.250" />
        </g>
      </svg>
      <p className={styles.title}>{title}</p>
      {body && <p className={styles.body}>{body}</p>}
      {action && <div className={styles.action}>{action}</div>}
    </div>
  )
}
