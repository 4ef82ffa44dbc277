import { useZone } from '@/till/lib/page/zone'
import { clockThere } from '@/till/lib/page/zone-clock'
import styles from './entry.module.css'

interface Props {
  at: string
  name: string
  how: string
  amount: string
  /** The money comes in. */
  plus?: boolean
  /** The entry was reversed. */
  gone?: boolean
  onOpen?: () => void
}

/** A row of a list of money: time, name, means, amount. */
export function Entry({ at, name, how, amount, plus = false, gone = false, onOpen }: Props) {
  const zone = useZone()
  const line = (
    <>
      <span className={`digits ${styles.time}`}>{clockThere(Date.parse(at), zone)}</span>
      <span className={styles.who}>
        <span className={styles.name}>{name}</span>
        <span className={styles.how}>{how}</span>
      </span>
      <span className={`digits ${styles.amount}`} data-plus={plus || undefined}>
        {amount}
      </span>
    </>
  )
  if (!onOpen) return <div className={styles.entry}>{line}</div>
  return (
    <button type="button" className={styles.entry} data-gone={gone || undefined} onClick={onOpen}>
      {line}
    </button>
  )
}
