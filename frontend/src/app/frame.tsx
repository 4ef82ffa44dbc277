import { copy } from '@/shared/copy/copy'
import styles from './frame.module.css'

/** The frame of a phone around the app on a wide screen, with the brand beside it; a phone shows neither. */
export function Frame() {
  return (
    <div className={styles.frame} aria-hidden="true">
      <div className={styles.brand}>
        <img src="/favicon.svg" alt="" width="72" height="72" loading="lazy" />
        <strong className={styles.name}>{copy.brand}</strong>
        <span>{copy.welcome.title}</span>
      </div>
    </div>
  )
}
