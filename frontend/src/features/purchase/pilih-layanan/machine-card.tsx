import { useQueryClient } from '@tanstack/react-query'
import { Check, Timer } from 'lucide-react'
import { useEffect, useState } from 'react'
import type { DataMesin } from '@/shared/api/model'
import { added } from '@/shared/copy/added'
import { formatLeft } from '@/shared/lib/format'
import { useCountdown } from '@/shared/realtime/use-countdown'
import { Porthole } from '@/shared/ui/porthole'
import { servicesQueries } from '../calls'
import styles from './pilih-layanan-page.module.css'

interface Props {
  machine: DataMesin
  free: boolean
  /** End of the run on it, epoch ms of the server. */
  ends_at: number | null
}

/** The machine's name, large: stickers get swapped, so it is to be compared with the one on the machine. */
export function MachineCard({ machine, free, ends_at }: Props) {
  const [waited, setWaited] = useState(!free)
  if (!free && !waited) setWaited(true)
  const left_s = useCountdown(free ? null : ends_at)
  useAskWhenOver(left_s)
  return (
    <section className={styles.machine}>
      <div className={styles.head}>
        {left_s ? <Porthole state="taken" left_s={left_s} /> : <Porthole state={free ? 'ready' : 'still'} />}
        <div className={styles.which}>
          <h2 className={styles.machineName}>{machine.nama}</h2>
          <p className={styles.outlet}>
            {machine.outlet.nama}, {machine.outlet.kota}
          </p>
        </div>
      </div>
      <State free={free} waited={waited} offline={machine.status === 'offline'} left_s={left_s} />
      {free && (
        <p className={styles.hint}>
          <Check size={20} aria-hidden /> {added.service.matchName}
        </p>
      )}
    </section>
  )
}

interface StateProps {
  free: boolean
  /** Whether it was taken before: only then is it news that it is free. */
  waited: boolean
  offline: boolean
  left_s: number | null
}

/** Why it cannot be bought, and for how long. */
function State({ free, waited, offline, left_s }: StateProps) {
  const taken = offline ? 'offline' : 'busy'
  return (
    <div className={styles.state} data-state={free ? (waited ? 'free' : 'none') : taken}>
      {!free && !offline && <Timer size={20} aria-hidden />}
      <p>
        {/* Stays when its words change, so that a screen reader tells the change; the seconds are not in it. */}
        <span role="status">
          {!free && <strong>{offline ? added.service.offline : added.service.busy}</strong>}
          {free && waited && <strong>{added.service.free}</strong>}
          {!free && offline && <Body text={added.service.offlineBody} />}
          {!free && !offline && !left_s && <Body text={added.service.busyWithoutTime} />}
        </span>
        {left_s ? (
          <strong role="timer" className={styles.until}>
            {added.service.endsIn(formatLeft(left_s * 1000))}
          </strong>
        ) : null}
      </p>
    </div>
  )
}

const Body = ({ text }: { text: string }) => <span className={styles.body}>{text}</span>

/** When its time is over the machine is asked about again. */
function useAskWhenOver(left_s: number | null): void {
  const client = useQueryClient()
  const over = left_s === 0
  useEffect(() => {
    if (over) void client.invalidateQueries(servicesQueries)
  }, [over, client])
}
