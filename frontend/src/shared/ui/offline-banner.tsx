import { added } from '@/shared/copy/added'
import { useOnline } from '@/shared/lib/use-online'
import styles from './offline-banner.module.css'

/** Says quietly on every screen that there is no network. */
export function OfflineBanner() {
  const online = useOnline()
  return (
    <div role="status" className={styles.banner}>
      {online ? null : added.umum.luring}
    </div>
  )
}
