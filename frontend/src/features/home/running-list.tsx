import { useEffect, useId, useRef, useState } from 'react'
import type { LeftInMachine, SnapTransaksi } from '@/shared/api/model'
import { added } from '@/shared/copy/added'
import { extras } from '@/shared/copy/extras'
import { spec } from '@/shared/copy/spec'
import { isWaiting } from '@/shared/lib/purchases'
import { vibrate } from '@/shared/lib/vibrate'
import { keepOnly, useBeats } from '@/shared/realtime/beats'
import { Button } from '@/shared/ui/button'
import type { Elements } from '@/shared/ui/elements'
import styles from './dashboard-page.module.css'
import { LeftCard } from './left-card'
import { PushRow } from './push-row'
import { DoneCard, RunningCard, WaitingCard } from './running-card'
import { useListMotion } from './use-list-motion'

/** How long an ended run stays in view; the style sheet fades it out at the end. */
const DONE_MS = 5_000
/** Shorter breaks of the connection are not worth a word. */
const QUIET_MS = 2_000
/** Cards that are seen without asking: two rows of a phone. */
const FEW = 4

interface Props {
  purchases: SnapTransaksi[]
  done: SnapTransaksi[]
  left: LeftInMachine[]
  onDone: (purchase: SnapTransaksi) => void
}

/** 'Sedang Berlangsung': the machines that run or are waited for; under a title of their own those that have just ended, and those with laundry still in them. */
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
        <Wall title={spec.running} alone={alone} most={FEW} note={<Reconnecting />}>
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
        <Wall title={extras.waits} alone={alone} most={running.length > 0 ? FEW / 2 : FEW}>
          {[
            ...over.map((purchase) => {
              const [detail] = purchase.snap_transaksi_detail
              const stays = kept.has(purchase.id)
              return (
                detail && {
                  id: purchase.id,
                  // It stays where the laundry is said to be in it still.
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
  /** Its one card is the only one of all. */
  alone: boolean
  /** So many are seen at first: the balances below are not pushed out of reach. */
  most: number
  note?: Elements
  children: (One | undefined)[]
}

/** Machines under a title; those beyond the first ones once somebody asks for them. All of them are watched. */
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
          {added.dashboard.showMore(more)}
        </Button>
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
