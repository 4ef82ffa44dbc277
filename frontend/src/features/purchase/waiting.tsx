import { copy } from '@/shared/copy/copy'
import { Spinner } from '@/shared/ui/spinner'
import styles from './waiting.module.css'

/** Placeholder for content that is being fetched. */
export function Waiting() {
  return (
    <div role="status" className={styles.waiting}>
      <Spinner large />
      <span className="visually-hidden">{copy.common.loading}</span>
    </div>
  )
}
