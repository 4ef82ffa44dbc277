import styles from './spinner.module.css'

/** A turning ring; a sentence beside it names what is awaited. */
export function Spinner({ large = false }: { large?: boolean }) {
  return <span aria-hidden="true" className={`${styles.spinner} ${large ? styles.large : ''}`} />
}
