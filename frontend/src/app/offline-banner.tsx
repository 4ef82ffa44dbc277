import { Hourglass, WifiOff } from 'lucide-react'
import { useDataAge } from '@/app/data-age'
import { copy } from '@/shared/copy/copy'
import { useOverloaded } from '@/shared/lib/net/until-admitted'
import { useOnline } from '@/shared/lib/net/use-online'
import { useAgeShown } from '@/shared/lib/page/age-shown'
import { useStuckHeight } from '@/shared/lib/page/stuck-height'
import { moment } from '@/shared/lib/text/format'
import styles from './offline-banner.module.css'

/** A quiet notice on every screen that there is no network, with the age of the visible data, or that the server is overloaded. */
export function OfflineBanner() {
  const online = useOnline()
  const overloaded = useOverloaded()
  const ref = useStuckHeight<HTMLDivElement>('--stuck-banner')
  return (
    <div ref={ref} role="status" className={styles.banner}>
      {!online && (
        <>
          <WifiOff size={20} aria-hidden />
          <span className={styles.text}>
            <span>{copy.common.offline}</span>
            <Age />
          </span>
        </>
      )}
      {online && overloaded && (
        <>
          <Hourglass size={20} aria-hidden />
          <span className={styles.text}>{copy.common.overloaded}</span>
        </>
      )}
    </div>
  )
}

function Age() {
  const at = useDataAge((state) => state.at)
  const shown = useAgeShown((state) => state.shown)
  if (at === null || shown) return null
  return <span className={`digits ${styles.age}`}>{copy.dashboard.dataAsOf(moment(at))}</span>
}
