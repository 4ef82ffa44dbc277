import { added } from '@/shared/copy/added'
import styles from './frame.module.css'

/** On a wide screen the app stands in the frame of a phone, with the brand beside it; a phone sees none of it. */
export function Frame() {
  return (
    <div className={styles.frame} aria-hidden="true">
      <div className={styles.brand}>
        <img src="/favicon.svg" alt="" width="72" height="72" loading="lazy" />
        <strong className={styles.name}>{added.brand}</strong>
        <span>{added.welcome.title}</span>
      </div>
    </div>
  )
}
