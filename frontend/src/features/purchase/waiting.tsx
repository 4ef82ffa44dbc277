import { added } from '@/shared/copy/added'
import { Spinner } from '@/shared/ui/spinner'
import styles from './waiting.module.css'

/** Placeholder for content that is being fetched. */
export function Waiting() {
  return (
    <div role="status" className={styles.waiting}>
      <Spinner large />
      <span className="visually-hidden">{added.common.loading}</span>
    </div>
  )
}
