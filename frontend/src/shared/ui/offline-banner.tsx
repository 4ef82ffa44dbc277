import { added } from '@/shared/copy/added'
import { KEEP_CLEAR } from '@/shared/lib/free-top'
import { useOnline } from '@/shared/lib/use-online'
import { useStuckHeight } from '@/shared/lib/use-stuck-height'
import styles from './offline-banner.module.css'

/** Says quietly on every screen that there is no network. */
export function OfflineBanner() {
  const online = useOnline()
  const ref = useStuckHeight<HTMLDivElement>('--stuck-banner')
  return (
    <div ref={ref} role="status" className={styles.banner} {...KEEP_CLEAR}>
      {online ? null : added.common.offline}
    </div>
  )
}
