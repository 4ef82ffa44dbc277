import styles from './spinner.module.css'

/** A turning ring; the sentence that says what is awaited stands beside it. */
export function Spinner({ large = false }: { large?: boolean }) {
  return <span aria-hidden="true" className={`${styles.spinner} ${large ? styles.large : ''}`} />
}
