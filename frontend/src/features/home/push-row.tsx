import { Bell, ChevronRight } from 'lucide-react'
import { later } from '@/shared/copy/later'
import { usePushSwitch } from '@/shared/push/use-push'
import { Spinner } from '@/shared/ui/spinner'
import styles from './push-row.module.css'

/** Offers a notification at the end of a cycle; hidden once that is on, and where it is impossible. */
export function PushRow() {
  const { state, pending, toggle } = usePushSwitch()
  if (state === 'unknown' || state === 'unsupported' || state === 'on') return null
  return (
    <button type="button" className={styles.row} aria-busy={pending || undefined} onClick={toggle}>
      <Bell size={22} aria-hidden className={styles.bell} />
      <span className={styles.text}>{later.push.ask}</span>
      {pending ? <Spinner /> : <ChevronRight size={20} aria-hidden className={styles.chevron} />}
    </button>
  )
}
