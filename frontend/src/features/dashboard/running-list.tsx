import { useEffect, useState } from 'react'
import type { SnapTransaksi } from '@/shared/api/model'
import { added } from '@/shared/copy/added'
import { spec } from '@/shared/copy/spec'
import { vibrate } from '@/shared/lib/vibrate'
import { keepOnly, useBeats } from '@/shared/realtime/beats'
import styles from './dashboard-page.module.css'
import { DoneCard, RunningCard, WaitingCard } from './running-card'
import { isWaiting } from './use-dashboard'

/** How long an ended run stays in view; the style sheet fades it out at the end. */
const DONE_MS = 5_000
/** Shorter breaks of the connection are not worth a word. */
const QUIET_MS = 2_000

interface Props {
  purchases: SnapTransaksi[]
  done: SnapTransaksi[]
  onDone: (purchase: SnapTransaksi) => void
}

/** 'Sedang Berlangsung': the running machines, and for a moment those that have just ended. */
export function RunningList({ purchases, done, onDone }: Props) {
  const doneIds = new Set(done.map(({ id }) => id))
  const listed = [...done, ...purchases.filter(({ id }) => !doneIds.has(id))].sort((a, b) =>
    b.created_at.localeCompare(a.created_at),
  )

  useEffect(() => {
    keepOnly(purchases.map(({ snap_transaksi_detail: [detail] }) => String(detail?.idmesin)))
  }, [purchases])

  return (
    <section className={styles.section} aria-labelledby="running">
      <h2 id="running" className={styles.heading}>
        {spec.running}
      </h2>
      <Reconnecting />
      <ul className={styles.running}>
        {listed.map((purchase) => {
          const [detail] = purchase.snap_transaksi_detail
          if (!detail) return null
          const ended = doneIds.has(purchase.id)
          return (
            <li key={purchase.id} className={ended ? styles.leaving : undefined}>
              {ended ? (
                <DoneCard purchase={purchase} detail={detail} />
              ) : isWaiting(purchase) ? (
                <WaitingCard purchase={purchase} detail={detail} />
              ) : (
                <RunningCard purchase={purchase} detail={detail} onDone={() => onDone(purchase)} />
              )}
            </li>
          )
        })}
      </ul>
    </section>
  )
}

/** Runs seen to their end on this screen, each for a few seconds, with one short vibration. */
export function useDone() {
  const [done, setDone] = useState<SnapTransaksi[]>([])
  useEffect(() => {
    if (done.length === 0) return
    const timer = setTimeout(() => setDone((list) => list.slice(1)), DONE_MS)
    return () => clearTimeout(timer)
  }, [done])

  function onDone(purchase: SnapTransaksi) {
    setDone((list) => (list.some(({ id }) => id === purchase.id) ? list : [...list, purchase]))
    vibrate()
  }
  return { done, onDone }
}

/** The countdown goes on from the deadline; that the line is down is said quietly. */
function Reconnecting() {
  const down = useBeats((state) => state.connection === 'down')
  const [shown, setShown] = useState(false)
  useEffect(() => {
    if (!down) return setShown(false)
    const timer = setTimeout(() => setShown(true), QUIET_MS)
    return () => clearTimeout(timer)
  }, [down])
  return (
    <p role="status" className={styles.reconnecting}>
      {shown ? added.dashboard.reconnecting : null}
    </p>
  )
}
