import { useEffect, useRef, useState } from 'react'
import type { LeftInMachine, SnapTransaksi } from '@/shared/api/model'
import { added } from '@/shared/copy/added'
import { extras } from '@/shared/copy/extras'
import { spec } from '@/shared/copy/spec'
import { vibrate } from '@/shared/lib/vibrate'
import { keepOnly, useBeats } from '@/shared/realtime/beats'
import styles from './dashboard-page.module.css'
import { LeftCard } from './left-card'
import { PushRow } from './push-row'
import { DoneCard, RunningCard, WaitingCard } from './running-card'
import { isWaiting } from './use-dashboard'
import { useListMotion } from './use-list-motion'

/** How long an ended run stays in view; the style sheet fades it out at the end. */
const DONE_MS = 5_000
/** Shorter breaks of the connection are not worth a word. */
const QUIET_MS = 2_000

interface Props {
  purchases: SnapTransaksi[]
  done: SnapTransaksi[]
  left: LeftInMachine[]
  onDone: (purchase: SnapTransaksi) => void
}

/** 'Sedang Berlangsung': the running machines, those that have just ended, and those with laundry still in them; under a title of their own when nothing runs. */
export function RunningList({ purchases, done, left, onDone }: Props) {
  const ended = new Set(done.map(({ id }) => id))
  const kept = new Set(left.map(({ id }) => id))
  const listed = [...done, ...purchases.filter(({ id }) => !ended.has(id))].sort((a, b) =>
    b.created_at.localeCompare(a.created_at),
  )
  const waiting = left.filter(({ id }) => !ended.has(id))
  const alone = listed.length + waiting.length === 1

  useEffect(() => {
    keepOnly(purchases.map(({ snap_transaksi_detail: [detail] }) => String(detail?.idmesin)))
  }, [purchases])

  const list = useRef<HTMLUListElement>(null)
  useListMotion(list, [...listed, ...waiting].map(({ id }) => id).join())

  if (listed.length + waiting.length === 0) return null
  return (
    <section className={styles.section} aria-labelledby="running">
      <h2 id="running" className={styles.heading}>
        {listed.length > 0 ? spec.running : extras.waits}
      </h2>
      <Reconnecting />
      <ul ref={list} className={styles.running} data-alone={alone || undefined}>
        {listed.map((purchase) => {
          const [detail] = purchase.snap_transaksi_detail
          if (!detail) return null
          const about = { purchase, detail, alone }
          if (ended.has(purchase.id)) {
            return (
              // It stays where the laundry is said to be in it still.
              <li key={purchase.id} className={kept.has(purchase.id) ? undefined : styles.leaving}>
                <DoneCard {...about} kept={kept.has(purchase.id)} />
              </li>
            )
          }
          return (
            <li key={purchase.id}>
              {isWaiting(purchase) ? (
                <WaitingCard {...about} />
              ) : (
                <RunningCard {...about} onDone={() => onDone(purchase)} />
              )}
            </li>
          )
        })}
        {waiting.map((use) => (
          <li key={use.id}>
            <LeftCard use={use} alone={alone} />
          </li>
        ))}
      </ul>
      {!alone && purchases.length > 0 && (
        <div className={styles.push}>
          <PushRow />
        </div>
      )}
    </section>
  )
}

/** Runs seen to their end on this screen, each for a few seconds, with one short vibration. */
export function useDone() {
  const [done, setDone] = useState<SnapTransaksi[]>([])

  function onDone(purchase: SnapTransaksi) {
    const others = (list: SnapTransaksi[]) => list.filter(({ id }) => id !== purchase.id)
    setDone((list) => [...others(list), purchase])
    // Of its own: one that ends soon after is as long in view.
    setTimeout(() => setDone(others), DONE_MS)
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
