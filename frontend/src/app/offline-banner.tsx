import { WifiOff } from 'lucide-react'
import { useDataAge } from '@/app/data-age'
import { useStuckHeight } from '@/app/use-stuck-height'
import { added } from '@/shared/copy/added'
import { useAgeTold } from '@/shared/lib/age-told'
import { moment } from '@/shared/lib/format'
import { KEEP_CLEAR } from '@/shared/lib/free-place'
import { useOnline } from '@/shared/lib/use-online'
import styles from './offline-banner.module.css'

/** A quiet notice on every screen that there is no network, with the age of the visible data. */
export function OfflineBanner() {
  const online = useOnline()
  const ref = useStuckHeight<HTMLDivElement>('--stuck-banner')
  return (
    <div ref={ref} role="status" className={styles.banner} {...KEEP_CLEAR}>
      {!online && (
        <>
          <WifiOff size={20} aria-hidden />
          <span className={styles.text}>
            <span>{added.common.offline}</span>
            <Age />
          </span>
        </>
      )}
    </div>
  )
}

function Age() {
  const at = useDataAge((state) => state.at)
  const told = useAgeTold((state) => state.told)
  if (at === null || told) return null
  return <span className={`digits ${styles.age}`}>{added.dashboard.dataAsOf(moment(at))}</span>
}
