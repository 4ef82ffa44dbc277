import { Bell } from 'lucide-react'
import { useEffect, useState } from 'react'
import { asApiError } from '@/shared/api/error'
import { useSubmit } from '@/shared/lib/form/use-submit'
import type { PushState } from '@/shared/push/subscription'
import choices from '@/shared/ui/choice.module.css'
import track from '@/shared/ui/switch.module.css'
import { reasonOf } from '@/till/lib/page/explain'
import { notify } from '@/till/lib/page/notices'
import { checkAlerts, turnAlertsOff, turnAlertsOn } from '@/till/lib/push/push'
import { pemberitahuan as copy } from './pemberitahuan-copy'
import styles from './pemberitahuan-page.module.css'

/** Advice where a tap alone does not turn it on. */
const WHY_NOT: Partial<Record<PushState, string>> = {
  unsupported: copy.unsupported,
  refused: copy.refused,
  homeScreenFirst: copy.homeScreenFirst,
}

/** Whether this browser gets alerts at all. */
export function PushSwitch() {
  const [state, setState] = useState<PushState>('unknown')
  useEffect(() => {
    let gone = false
    checkAlerts()
      // Renewed when this page is opened again; the switch stays as the person left it.
      .catch((): PushState => 'off')
      .then((now) => gone || setState(now))
    return () => {
      gone = true
    }
  }, [])
  const { pending, submit } = useSubmit(
    async () => {
      const now = await (state === 'on' ? turnAlertsOff() : turnAlertsOn())
      setState(now)
      if (now === 'on') notify.info(copy.on)
      else if (now === 'off' && state === 'on') notify.info(copy.off)
    },
    (error) => {
      const { status } = asApiError(error)
      notify.failure(status > 0 ? reasonOf(error) : `${copy.failed} ${copy.failedBody}`)
    },
  )
  const why = WHY_NOT[state]
  return (
    <div className={choices.surface}>
      <button
        type="button"
        role="switch"
        aria-checked={state === 'on'}
        aria-busy={pending || undefined}
        className={choices.choice}
        disabled={state === 'unknown' || state === 'unsupported'}
        onClick={() => submit()}
      >
        <span className={choices.tile}>
          <Bell size={20} aria-hidden />
        </span>
        <span className={choices.text}>
          <span className={choices.name}>{copy.here}</span>
          <span className={choices.second}>{copy.hereWhat}</span>
        </span>
        <span className={track.track} />
      </button>
      {why && (
        <p role="status" className={styles.why}>
          {why}
        </p>
      )}
    </div>
  )
}
