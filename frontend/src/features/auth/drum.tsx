import styles from './drum.module.css'

/** The signature of the app: a washing machine's window with its water. */
export function Drum({ className }: { className: string | undefined }) {
  return (
    <div className={`${styles.drum} ${className}`}>
      <div className={styles.glass}>
        <Wave className={styles.far} />
        <Wave className={styles.near} />
      </div>
      <svg className={styles.ring} viewBox="0 0 200 200" fill="none" stroke="#fff" aria-hidden="true">
        <circle cx="100" cy="100" r="90" strokeOpacity="0.18" strokeWidth="9" />
        <path d="M100 10A90 90 0 1 1 66.300 183.400" strokeWidth="9" />
        <circle cx="66.300" cy="183.400" r="6.500" fill="#1b2f6b" strokeWidth="5" />
        <path d="M36 76a68 68 0 0 1 23-30" strokeOpacity="0.5" strokeWidth="5" strokeLinecap="round" />
      </svg>
    </div>
  )
}

function Wave({ className }: { className: string | undefined }) {
  return (
    <svg className={className} viewBox="0 0 400 100" preserveAspectRatio="none" aria-hidden="true">
      <path d="M0 8q50-16 100 0t100 0 100 0 100 0v92H0z" fill="currentColor" />
    </svg>
  )
}
