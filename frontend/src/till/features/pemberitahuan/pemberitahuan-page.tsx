import { useQuery } from '@tanstack/react-query'
import { Empty } from '@/shared/ui/empty'
import { Failed } from '@/shared/ui/failed'
import { Spinner } from '@/shared/ui/spinner'
import { alertKeys, getAlarm } from '@/till/api/alert-calls'
import { useSells } from '@/till/lib/session/use-device'
import { useMe } from '@/till/lib/session/use-me'
import { AlarmForm } from './alarm-form'
import { pemberitahuan as copy } from './pemberitahuan-copy'
import styles from './pemberitahuan-page.module.css'
import { PushSwitch } from './push-switch'

/** Which alerts a person gets in their own browser (docs/board.md). */
export default function AlertsPage() {
  const me = useMe()
  const sells = useSells()
  const alarm = useQuery({
    queryKey: alertKeys.alarm,
    queryFn: ({ signal }) => getAlarm(signal),
    enabled: !sells,
    // A form that is being filled in must not change under the hand.
    refetchOnWindowFocus: false,
  })
  if (sells) return <Empty title={copy.own} body={copy.ownBody} />
  const failed = [me, alarm].find(({ isError, data }) => isError && !data)
  if (failed) {
    return <Failed error={failed.error} pending={failed.isFetching} onRetry={() => void failed.refetch()} />
  }
  if (!me.data || !alarm.data) return <Spinner large />
  return (
    <div className={styles.page}>
      <PushSwitch />
      <AlarmForm me={me.data} alarm={alarm.data} />
    </div>
  )
}
