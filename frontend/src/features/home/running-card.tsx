import { type ComponentProps, useEffect, useEffectEvent, useRef, useState } from 'react'
import type { SnapDetail, SnapTransaksi } from '@/shared/api/model'
import { copy } from '@/shared/copy/copy'
import { later } from '@/shared/copy/later'
import { heldUntil } from '@/shared/lib/session/purchases'
import { clockTime } from '@/shared/lib/text/format'
import { serverNow } from '@/shared/realtime/clock'
import { watchMachine } from '@/shared/realtime/socket'
import { useTicks } from '@/shared/realtime/ticks'
import { useCountdown } from '@/shared/realtime/use-countdown'
import { Porthole } from '@/shared/ui/porthole'
import { FetchedButton } from './fetched-button'
import { MachineFront } from './machine-front'
import { PushRow } from './push-row'
import styles from './running-card.module.css'
import { useReloadWhile } from './use-reload'

/** The final tick may be this late before the card refetches. */
const LATE_MS = 3_000
const LAST_MINUTE_S = 60

interface Props {
  purchase: SnapTransaksi
  detail: SnapDetail
  /** A single card fills the width; several form two columns. */
  alone: boolean
}

/** Status 1 or 2: the money is held, the device has not answered. No countdown. */
export function WaitingCard(props: Props) {
  return (
    <Machine
      {...props}
      lamp="waiting"
      porthole={<Porthole size={sizeOf(props)} state="waiting" />}
      when={copy.dashboard.waitingForMachine}
    >
      <p className={styles.note}>
        {copy.dashboard.waitingForMachineBody(clockTime(heldUntil(props.purchase)))}
      </p>
    </Machine>
  )
}

/**
 * A cycle that has just ended; the card stays for a moment so that the customer sees the end. `kept`: the laundry is still in the
 * machine.
 */
export function DoneCard({ kept, ...props }: Props & { kept: boolean }) {
  const [at] = useState(serverNow)
  return (
    <Machine
      {...props}
      lamp="done"
      porthole={<Porthole size={sizeOf(props)} state="over" />}
      when={copy.dashboard.since(clockTime(at))}
    >
      {kept && <FetchedButton id={props.purchase.id} />}
    </Machine>
  )
}

export function RunningCard({ onDone, ...props }: Props & { onDone: () => void }) {
  const { detail } = props
  const idmesin = String(detail.idmesin)
  const tick = useTicks((state) => state.ticks[idmesin])
  const ends_at = tick?.ends_at ?? null
  const left_s = useCountdown(ends_at)
  const late = useLate(left_s === 0)
  const over = tick?.over ?? false
  // No end was reported, and no report can arrive.
  const unsure = useTicks((state) => state.connection === 'down') && late && !over

  useEffect(() => watchMachine(idmesin), [idmesin])
  useReloadWhile(over || late)

  // The end is signalled once, and only when this screen saw the countdown: an ack after an absence merely reloads.
  const counted = useRef(false)
  const counts = left_s !== null && left_s > 0
  const done = useEffectEvent(() => {
    if (ends_at !== null) onDone()
  })
  useEffect(() => {
    if (counts) counted.current = true
    if (!over || !counted.current) return
    counted.current = false
    done()
  }, [over, counts])

  const size = sizeOf(props)
  const foot = props.alone && <PushRow />
  const duration_s = detail.durasi || detail.snap_layanan.durasi
  if (unsure) {
    return (
      <Machine
        {...props}
        lamp="waiting"
        porthole={<Porthole size={size} state="still" />}
        when={copy.dashboard.perhapsOver}
        foot={foot}
      />
    )
  }
  return (
    <Machine
      {...props}
      lamp={left_s !== null && left_s <= LAST_MINUTE_S ? 'last' : 'running'}
      porthole={
        left_s === null ? (
          <Porthole size={size} state="unknown" />
        ) : (
          <Porthole size={size} state="running" left_s={left_s} duration_s={duration_s} />
        )
      }
      when={ends_at === null ? null : copy.dashboard.endsAt(clockTime(ends_at))}
      foot={foot}
    >
      {props.purchase.kendala === 'belum_jalan' && (
        <p role="status" className={`${styles.note} ${styles.urge}`}>
          {later.pressStart}
        </p>
      )}
    </Machine>
  )
}

const sizeOf = ({ alone }: Props) => (alone ? 'hero' : 'pair')

/** The machine of a purchase. */
function Machine({ purchase, detail, ...rest }: Props & Front) {
  return (
    <MachineFront
      machine={detail.snap_mesin.nama}
      service={detail.snap_layanan.nama}
      outlet={purchase.outlet.nama}
      idmesin={detail.idmesin}
      {...rest}
    />
  )
}

type Front = Omit<ComponentProps<typeof MachineFront>, 'machine' | 'service' | 'outlet' | 'idmesin' | 'alone'>

/** True once the countdown has been over for longer than the final tick may take. */
function useLate(ended: boolean): boolean {
  const [late, setLate] = useState(false)
  useEffect(() => {
    setLate(false)
    if (!ended) return
    const timer = setTimeout(() => setLate(true), LATE_MS)
    return () => clearTimeout(timer)
  }, [ended])
  return late
}
