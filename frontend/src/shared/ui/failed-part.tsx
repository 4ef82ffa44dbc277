import { explain } from '@/shared/api/error'
import type { Elements } from '@/shared/ui/elements'
import styles from './failed-part.module.css'

interface Props {
  title: string
  error: unknown
  className?: string | undefined
  /** The retry button. */
  children: Elements
}

/** Placeholder for a part that could not be fetched, on a screen that is useful without it. */
export function FailedPart({ title, error, className, children }: Props) {
  const text = explain(error)
  return (
    <div role="alert" className={[styles.failed, className].filter(Boolean).join(' ')}>
      <p className={styles.title}>{title}</p>
      <p>{text.body ?? text.title}</p>
      {children}
    </div>
  )
}
