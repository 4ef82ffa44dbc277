import { Hand, Power, WifiOff, Wrench } from 'lucide-react'
import { memo } from 'react'
import { formatLeft } from '@/shared/lib/text/format'
import { useCountdown } from '@/shared/realtime/use-countdown'
import type { Tile } from '@/till/api/types'
import { lookOf, stateName } from '@/till/lib/machine/state-name'
import { useZone } from '@/till/lib/page/zone'
import { mesinCopy } from './mesin-copy'
import styles from './tile.module.css'

const LAST_MINUTE_S = 60

interface Props {
  tile: Tile
  /** The length of the name's beginning that a small tile leaves out. */
  start: number
  selected: boolean
  /** One tile of the grid is in the order of Tab; the arrows move between the others. */
  tabbable: boolean
  /** Null on the wall, where nothing opens. */
  onOpen: ((id: number) => void) | null
}

/** A machine. It is drawn again only when its own tile has changed: unchanged tiles stay the same object. */
export const MachineTile = memo(function MachineTile({ tile, start, selected, tabbable, onOpen }: Props) {
  const { id, nama, keadaan, ends_at } = tile
  const left_s = useCountdown(keadaan === 'jalan' ? ends_at : null)
  const inside = (
    <>
      <Dial tile={tile} left_s={left_s} />
      <span className={styles.name} data-name>
        <span className={styles.start}>{nama.slice(0, start)}</span>
        <span>{nama.slice(start)}</span>
      </span>
      <span className={styles.detail}>{detailOf(tile, useZone())}</span>
    </>
  )
  const props = {
    className: styles.tile,
    'data-machine': id,
    'data-state': lookOf(keadaan) ?? 'unknown',
    'data-last': (left_s !== null && left_s <= LAST_MINUTE_S) || undefined,
    style: { '--level': levelOf(tile, left_s) } as React.CSSProperties,
  }
  if (!onOpen) return <div {...props}>{inside}</div>
  return (
    <button
      {...props}
      type="button"
      aria-pressed={selected}
      tabIndex={tabbable ? 0 : -1}
      onClick={() => onOpen(id)}
    >
      {inside}
    </button>
  )
})

/** The share of the time that is left, 0 to 1. */
function levelOf({ keadaan, sejak, ends_at }: Tile, left_s: number | null): number {
  if (keadaan !== 'jalan' || ends_at === null || left_s === null || sejak === null) return 0
  const whole_s = (ends_at - new Date(sejak).getTime()) / 1000
  return whole_s > 0 ? Math.min(1, Math.max(0, left_s / whole_s)) : 0
}

function Dial({ tile, left_s }: { tile: Tile; left_s: number | null }) {
  const level = levelOf(tile, left_s)
  return (
    <span className={styles.dial}>
      <svg className={styles.ring} viewBox="0 0 64 64" aria-hidden="true">
        <circle className={styles.track} cx="32" cy="32" r="29" />
        {level > 0 && (
          <circle
            className={styles.arc}
            cx="32"
            cy="32"
            r="29"
            pathLength={1}
            strokeDasharray={`${level} 1`}
            transform="rotate(-90 32 32)"
          />
        )}
      </svg>
      <span className={styles.mark}>{markOf(tile, left_s)}</span>
    </span>
  )
}

function markOf({ keadaan }: Tile, left_s: number | null) {
  if (left_s !== null) {
    return (
      <>
        <span className="visually-hidden">{mesinCopy.left}</span>
        <span className="digits" translate="no">
          {formatLeft(left_s * 1000)}
        </span>
      </>
    )
  }
  switch (lookOf(keadaan)) {
    case 'siap':
    case 'jalan':
      return <span>{stateName(keadaan)}</span>
    case 'menunggu':
      return <Power size={24} aria-hidden />
    case 'perlu_petugas':
      return <Hand size={26} aria-hidden />
    case 'ditutup':
      return <Wrench size={22} aria-hidden />
    case 'offline':
      return <WifiOff size={22} aria-hidden />
    default:
      return <span aria-hidden="true">?</span>
  }
}

/** The last line of a tile: what the mark above does not say. */
export function detailOf({ keadaan, layanan, sejak, ends_at, ditutup }: Tile, zone: string): string {
  switch (lookOf(keadaan)) {
    case 'siap':
      return sejak === null ? '' : mesinCopy.doneAt(sejak, zone)
    case 'jalan':
      // A run that a device reports has an end; one that only a sensor sees has none.
      return [
        layanan ?? (ends_at === null ? mesinCopy.ranByItself : mesinCopy.unpaidRun),
        ditutup && mesinCopy.closedAfter,
      ]
        .filter(Boolean)
        .join(', ')
    case 'ditutup':
      return [stateName(keadaan), ditutup?.alasan].filter(Boolean).join(', ')
    case 'offline':
      return [stateName(keadaan), sejak && mesinCopy.since(sejak, zone)].filter(Boolean).join(' ')
    default:
      return stateName(keadaan)
  }
}
