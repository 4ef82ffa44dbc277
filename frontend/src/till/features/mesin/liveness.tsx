import { useZone } from '@/till/lib/page/zone'
import { useBoard } from './board-connection'
import styles from './liveness.module.css'
import { mesinCopy } from './mesin-copy'

/** Whether the picture is current, and until when it was. */
export function Liveness() {
  const { live, told_ms } = useBoard()
  const zone = useZone()
  const text = live
    ? mesinCopy.live
    : told_ms === null
      ? mesinCopy.connecting
      : mesinCopy.stale(told_ms, zone)
  return (
    <p className={styles.live} data-stale={!live || undefined}>
      <span className={styles.dot} aria-hidden="true" />
      <span role="status">{text}</span>
    </p>
  )
}
