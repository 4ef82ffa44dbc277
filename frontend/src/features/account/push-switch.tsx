import { Bell } from 'lucide-react'
import { later } from '@/shared/copy/later'
import { usePushSwitch } from '@/shared/push/use-push'
import choices from '@/shared/ui/choice.module.css'
import styles from '@/shared/ui/switch.module.css'

/** Switch for the notification at the end of a wash; hidden where the phone can never receive pushes. */
export function PushSwitch() {
  const { state, pending, toggle } = usePushSwitch()
  if (state === 'unsupported') return null
  return (
    <button
      type="button"
      role="switch"
      aria-checked={state === 'on'}
      aria-busy={pending || undefined}
      className={choices.choice}
      disabled={state === 'unknown'}
      onClick={toggle}
    >
      <span className={choices.tile}>
        <Bell size={20} aria-hidden />
      </span>
      <span className={choices.text}>
        <span className={choices.name}>{later.push.title}</span>
        <span className={choices.second}>{later.push.what}</span>
      </span>
      <span className={styles.track} />
    </button>
  )
}
