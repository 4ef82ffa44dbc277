import { useId } from 'react'
import styles from './torn-edge.module.css'

/** The lower edge of a receipt, torn off the roll: a line, so that both themes show it. */
export function TornEdge() {
  const id = useId()
  return (
    <svg className={styles.edge} width="100%" height="10" aria-hidden="true">
      <pattern id={id} width="14" height="10" patternUnits="userSpaceOnUse">
        <path d="M0 0v1.500L7 8.500l7-7V0z" className={styles.paper} />
        <path d="M0 1.500L7 8.500l7-7" className={styles.line} />
      </pattern>
      <rect width="100%" height="10" fill={`url(#${id})`} />
    </svg>
  )
}
