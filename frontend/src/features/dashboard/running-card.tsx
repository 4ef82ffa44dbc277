import { type ReactNode, useEffect, useRef, useState } from 'react'
import type { SnapDetail, SnapTransaksi } from '@/shared/api/model'
import { added } from '@/shared/copy/added'
import { useBeats } from '@/shared/realtime/beats'
import { watchMachine } from '@/shared/realtime/socket'
import { useCountdown } from '@/shared/realtime/use-countdown'
import { Card } from '@/shared/ui/card'
import { Porthole } from '@/shared/ui/porthole'
import styles from './running-card.module.css'
import { useReloadWhile } from './use-reload'

/** The final tick may be this late before the card asks by itself. */
const LATE_MS = 3_000

interface Props {
  purchase: SnapTransaksi
  detail: SnapDetail
}

/** Status 1 or 2: the money is held, the device has not answered. No countdown. */
export function WaitingCard({ purchase, detail }: Props) {
  return (
    <Shell purchase={purchase} detail={detail} porthole={<Porthole state="waiting" />}>
      <p className={styles.note}>
        <strong>{added.dashboard.waitingForMachine}</strong>
        <br />
        {added.dashboard.waitingForMachineBody}
      </p>
    </Shell>
  )
}

/** A run that has just ended; it stays for a moment so that the end is seen. */
export function DoneCard({ purchase, detail }: Props) {
  return <Shell purchase={purchase} detail={detail} porthole={<Porthole state="over" />} />
}

export function RunningCard({ purchase, detail, onDone }: Props & { onDone: () => void }) {
  const idmesin = String(detail.idmesin)
  const beat = useBeats((state) => state.beats[idmesin])
  const left_s = useCountdown(beat?.ends_at ?? null)
  const late = useLate(left_s === 0)
  const over = beat?.over ?? false

  useEffect(() => watchMachine(idmesin), [idmesin])
  useReloadWhile(over || late)

  // Told once, and only when the end was seen here: an ack after an absence merely reloads.
  const counted = useRef(false)
  if (left_s !== null && left_s > 0) counted.current = true
  useEffect(() => {
    if (!over || !counted.current) return
    counted.current = false
    if (beat?.ends_at !== null) onDone()
  }, [over, beat?.ends_at, onDone])

  const duration_s = detail.durasi || detail.snap_layanan.durasi
  return (
    <Shell
      purchase={purchase}
      detail={detail}
      porthole={
        left_s === null ? (
          <Porthole state="unknown" />
        ) : (
          <Porthole state="running" left_s={left_s} duration_s={duration_s} />
        )
      }
    />
  )
}

function Shell({
  purchase,
  detail,
  porthole,
  children,
}: Props & { porthole: ReactNode; children?: ReactNode }) {
  return (
    <Card className={styles.card}>
      {porthole}
      <div className={styles.text}>
        <h3 className={styles.service}>{detail.snap_layanan.nama}</h3>
        <p className={styles.meta}>{detail.snap_mesin.nama}</p>
        <p className={styles.meta}>{purchase.outlet.nama}</p>
        {children}
      </div>
    </Card>
  )
}

/** True once something has been so for longer than the final tick may take. */
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
