import { formatLeft } from '@/shared/lib/text/format'
import { useCountdown } from '@/shared/realtime/use-countdown'
import type { Kind } from './calls'
import styles from './outlet.module.css'
import { outletCopy as copy } from './outlet-copy'

interface Props {
  kind: Kind
  ready: number
  running: number
  /** When the next one ends, epoch ms. */
  next_ms: number | null
}

/** '2 mesin cuci siap', '5 jalan, berikutnya 00:48 lagi'. */
export function KindLine({ kind, ready, running, next_ms }: Props) {
  const left_s = useCountdown(next_ms)
  return (
    <span className={styles.kindLine}>
      <span className={ready > 0 ? styles.ready : undefined}>{copy.ready(ready, kind)}</span>
      {running > 0 && (
        <span className={styles.second}>
          <span>{copy.running(running)}</span>
          {left_s !== null && left_s > 0 && (
            <>
              <span>{`, ${copy.next} `}</span>
              <span className="digits" translate="no">
                {formatLeft(left_s * 1000)}
              </span>
              <span>{` ${copy.left}`}</span>
            </>
          )}
        </span>
      )}
    </span>
  )
}
