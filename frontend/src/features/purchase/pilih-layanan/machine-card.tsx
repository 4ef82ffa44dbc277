import { useQueryClient } from '@tanstack/react-query'
import { Check, Timer } from 'lucide-react'
import { useEffect, useState } from 'react'
import type { DataMesin, SnapTransaksi } from '@/shared/api/model'
import { copy } from '@/shared/copy/copy'
import { heldUntil, isWaiting } from '@/shared/lib/session/purchases'
import { clockTime, formatLeft, moment } from '@/shared/lib/text/format'
import { sentence } from '@/shared/lib/text/sentence'
import { serverNow } from '@/shared/realtime/clock'
import { useCountdown } from '@/shared/realtime/use-countdown'
import { Porthole } from '@/shared/ui/porthole'
import { servicesQueries } from '../calls'
import { pilihLayanan } from './pilih-layanan-copy'
import styles from './pilih-layanan-page.module.css'
import type { MachineNow } from './use-machine'
import { useOwn } from './use-own'

interface Props {
  machine: DataMesin
  now: MachineNow
}

/** The machine's name, large: stickers get swapped, so the customer must compare it with the machine's own name. */
export function MachineCard({ machine, now }: Props) {
  const free = now.kind === 'free'
  const [waited, setWaited] = useState(!free)
  if (!free && !waited) setWaited(true)
  const left_s = useCountdown(now.kind === 'taken' ? now.ends_at : null)
  useAskWhenOver(left_s)
  const own = useOwn(machine.id, !free)
  return (
    <section className={styles.machine}>
      <div className={styles.head}>
        {left_s ? <Porthole state="taken" left_s={left_s} /> : <Porthole state={free ? 'ready' : 'still'} />}
        <div className={styles.which}>
          <h2 className={styles.machineName}>{machine.nama}</h2>
          <p className={styles.outlet}>{`${machine.outlet.nama}, ${machine.outlet.kota}`}</p>
        </div>
      </div>
      <State now={now} own={own} waited={waited} left_s={left_s} />
      {free && (
        <p className={styles.hint}>
          <Check size={20} aria-hidden /> {copy.service.matchName}
        </p>
      )}
    </section>
  )
}

interface StateProps {
  now: MachineNow
  /** This customer's own purchase there. */
  own: SnapTransaksi | undefined
  /** Whether it was taken before: only then does the card announce that it is free. */
  waited: boolean
  /** Null, or 0, where the end of its cycle is unknown. */
  left_s: number | null
}

/** The reason why it cannot be bought, and for how long. */
function State(props: StateProps) {
  const { left_s } = props
  const { kind } = props.now
  const [title, body] = statusTexts(props)
  return (
    <div className={styles.state} data-state={title ? kind : 'none'}>
      {kind === 'taken' && <Timer size={20} aria-hidden />}
      <p>
        {/* The element stays when its text changes, so that a screen reader announces the change; the seconds are outside of it. */}
        <span role="status">
          {title && <strong>{title}</strong>}
          {body && <span className={styles.body}>{body}</span>}
        </span>
        {left_s ? (
          <strong role="timer" translate="no" className={styles.until}>
            {copy.service.timeLeft(formatLeft(left_s * 1000))}
          </strong>
        ) : null}
      </p>
    </div>
  )
}

function statusTexts({ now, own, waited, left_s }: StateProps): [title?: string, body?: string] {
  if (own && now.kind !== 'free') {
    return isWaiting(own)
      ? [copy.service.ownWaiting, copy.dashboard.waitingForMachineBody(clockTime(heldUntil(own)))]
      : [copy.service.own]
  }
  switch (now.kind) {
    case 'free':
      return waited ? [copy.service.free] : []
    case 'taken':
      return left_s ? [copy.service.busy] : [copy.service.busy, copy.service.busyWithoutTime]
    case 'offline':
      return [copy.service.offline, copy.service.offlineBody]
    case 'closed': {
      const opens = now.until && pilihLayanan.opens(moment(Date.parse(now.until), serverNow()))
      return [pilihLayanan.closed, [sentence(now.reason), opens].filter(Boolean).join(' ')]
    }
  }
}

/** Asks the server again when the machine's time is over. */
function useAskWhenOver(left_s: number | null): void {
  const client = useQueryClient()
  const over = left_s === 0
  useEffect(() => {
    if (over) void client.invalidateQueries(servicesQueries)
  }, [over, client])
}
