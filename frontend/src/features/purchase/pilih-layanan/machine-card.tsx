import { useQueryClient } from '@tanstack/react-query'
import { Check } from 'lucide-react'
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
  return (
    <section className={styles.machine}>
      <div className={styles.head}>
        <Porthole state={free ? 'ready' : 'still'} />
        <div className={styles.which}>
          <h2 className={styles.machineName}>{machine.nama}</h2>
          <p className={styles.outlet}>
            {machine.outlet.nama}, {machine.outlet.kota}
          </p>
        </div>
      </div>
      <State free={free} waited={waited} offline={machine.status === 'offline'} ends_at={ends_at} />
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
  ends_at: number | null
}

/** Why it cannot be bought, and for how long; when the time is over the machine is asked about again. */
function State({ free, waited, offline, ends_at }: StateProps) {
  const client = useQueryClient()
  const left_s = useCountdown(free ? null : ends_at)
  const over = left_s === 0
  useEffect(() => {
    if (over) void client.invalidateQueries(servicesQueries)
  }, [over, client])

  const taken = offline ? 'offline' : 'busy'
  return (
    <div className={styles.state} data-state={free ? (waited ? 'free' : 'none') : taken}>
      {/* Stays when its words change, so that a screen reader tells the change; the seconds are not in it. */}
      <div role="status" className={styles.words}>
        {!free && (
          <>
            <strong>{offline ? added.service.offline : added.service.busy}</strong>
            {offline
              ? added.service.offlineBody
              : left_s
                ? added.service.busyBody
                : added.service.busyWithoutTime}
          </>
        )}
        {free && waited && <strong>{added.service.free}</strong>}
      </div>
      {left_s ? (
        <div className={styles.left} role="timer">
          <span className="visually-hidden">{added.service.timeLeft} </span>
          <span className="digits">{formatLeft(left_s * 1000)}</span>
        </div>
      ) : null}
    </div>
  )
}
