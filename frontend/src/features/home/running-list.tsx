import { useEffect, useId, useRef, useState } from 'react'
import type { LeftInMachine, SnapTransaksi } from '@/shared/api/model'
import { copy } from '@/shared/copy/copy'
import { later } from '@/shared/copy/later'
import { vibrate } from '@/shared/lib/page/vibrate'
import { isWaiting } from '@/shared/lib/session/purchases'
import { keepOnly, useTicks } from '@/shared/realtime/ticks'
import { Button } from '@/shared/ui/button'
import type { Elements } from '@/shared/ui/elements'
import styles from './dashboard-page.module.css'
import { LeftCard } from './left-card'
import { PushRow } from './push-row'
import { DoneCard, RunningCard, WaitingCard } from './running-card'
import { useListMotion } from './use-list-motion'

/** Duration for which an ended cycle stays in view; the style sheet fades it out at the end. */
const DONE_MS = 5_000
/** A shorter interruption of the connection shows no notice. */
const QUIET_MS = 2_000
/** Number of cards visible at first: two rows on a phone. */
const FIRST_CARDS = 4

interface Props {
  purchases: SnapTransaksi[]
  done: SnapTransaksi[]
  left: LeftInMachine[]
  onDone: (purchase: SnapTransaksi) => void
}

/**
 * 'Sedang Berlangsung': the machines that run or are being started. A second title lists those that have just ended, and those that still
 * hold laundry.
 */
export function RunningList({ purchases, done, left, onDone }: Props) {
  const ended = new Set(done.map(({ id }) => id))
  const kept = new Set(left.map(({ id }) => id))
  const newestFirst = (list: SnapTransaksi[]) =>
    [...list].sort((a, b) => b.created_at.localeCompare(a.created_at))
  const running = newestFirst(purchases.filter(({ id }) => !ended.has(id)))
  const over = newestFirst(done)
  const waiting = left.filter(({ id }) => !ended.has(id))
  const alone = running.length + over.length + waiting.length === 1

  useEffect(() => {
    keepOnly(purchases.map(({ snap_transaksi_detail: [detail] }) => String(detail?.idmesin)))
  }, [purchases])

  if (running.length + over.length + waiting.length === 0) return null
  return (
    <>
      {running.length > 0 && (
        <Wall title={copy.dashboard.running} alone={alone} most={FIRST_CARDS} note={<Reconnecting />}>
          {running.map((purchase) => {
            const [detail] = purchase.snap_transaksi_detail
            const about = detail && { purchase, detail, alone }
            return (
              about && {
                id: purchase.id,
                card: isWaiting(purchase) ? (
                  <WaitingCard {...about} />
                ) : (
                  <RunningCard {...about} onDone={() => onDone(purchase)} />
                ),
              }
            )
          })}
        </Wall>
      )}
      {over.length + waiting.length > 0 && (
        <Wall title={later.waits} alone={alone} most={running.length > 0 ? FIRST_CARDS / 2 : FIRST_CARDS}>
          {[
            ...over.map((purchase) => {
              const [detail] = purchase.snap_transaksi_detail
              const stays = kept.has(purchase.id)
              return (
                detail && {
                  id: purchase.id,
                  // The card stays while the machine still holds laundry, according to the server.
                  leaving: !stays,
                  card: <DoneCard purchase={purchase} detail={detail} alone={alone} kept={stays} />,
                }
              )
            }),
            ...waiting.map((use) => ({ id: use.id, card: <LeftCard use={use} alone={alone} /> })),
          ]}
        </Wall>
      )}
      {!alone && purchases.length > 0 && (
        <div className={styles.push}>
          <PushRow />
        </div>
      )}
    </>
  )
}

interface One {
  id: string
  card: Elements
  leaving?: boolean
}

interface WallProps {
  title: string
  /** This card is the only one on the screen. */
  alone: boolean
  /** Number of cards visible at first, so that the balances below stay in reach. */
  most: number
  note?: Elements
  children: (One | undefined)[]
}

/** Machines under a title; the cards beyond the first ones appear on a tap. All of them are watched. */
function Wall({ title, alone, most, note, children }: WallProps) {
  const [all, setAll] = useState(false)
  const id = useId()
  const list = useRef<HTMLUListElement>(null)
  const cards = children.filter((one) => one !== undefined)
  useListMotion(list, cards.map((one) => one.id).join())
  const more = cards.length - most
  return (
    <section className={styles.section} aria-labelledby={id}>
      <h2 id={id} className={styles.heading}>
        {title}
      </h2>
      {note}
      <ul ref={list} className={styles.running} data-alone={alone || undefined}>
        {cards.map(({ id: key, card, leaving }, place) => (
          <li key={key} hidden={!all && place >= most} className={leaving ? styles.leaving : undefined}>
            {card}
          </li>
        ))}
      </ul>
      {!all && more > 0 && (
        <Button variant="secondary" className={styles.more} onClick={() => setAll(true)}>
          {copy.dashboard.showMore(more)}
        </Button>
      )}
    </section>
  )
}

/** Cycles that ended on this screen, each for a few seconds, with one short vibration. */
export function useDone() {
  const [done, setDone] = useState<SnapTransaksi[]>([])

  function onDone(purchase: SnapTransaksi) {
    const others = (list: SnapTransaksi[]) => list.filter(({ id }) => id !== purchase.id)
    setDone((list) => [...others(list), purchase])
    // A separate timer per cycle: one that ends soon after stays in view as long.
    setTimeout(() => setDone(others), DONE_MS)
    vibrate()
  }
  return { done, onDone }
}

/** The countdown continues from its deadline; this quiet notice shows that the connection is down. */
function Reconnecting() {
  const down = useTicks((state) => state.connection === 'down')
  const [shown, setShown] = useState(false)
  useEffect(() => {
    if (!down) return setShown(false)
    const timer = setTimeout(() => setShown(true), QUIET_MS)
    return () => clearTimeout(timer)
  }, [down])
  return (
    <p role="status" className={styles.reconnecting}>
      {shown ? copy.dashboard.reconnecting : null}
    </p>
  )
}
