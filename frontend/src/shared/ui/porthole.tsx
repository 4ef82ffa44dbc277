import { useId } from 'react'
import { added } from '@/shared/copy/added'
import { formatLeft } from '@/shared/lib/format'
import styles from './porthole.module.css'

const RING_RADIUS = 48
const RING_LENGTH = 2 * Math.PI * RING_RADIUS
const GLASS_RADIUS = 39
const LAST_MINUTE_S = 60

type Props =
  | { state: 'running'; left_s: number; duration_s: number }
  /** Running, the deadline not yet known. */
  | { state: 'unknown' }
  /** The device has not answered yet. */
  | { state: 'waiting' }
  | { state: 'over' }

/** The window of a machine: a ring and a water level that fall with the time left. */
export function Porthole(props: Props) {
  const glass = useId()
  const fraction = props.state === 'running' ? clamp(props.left_s / Math.max(1, props.duration_s)) : 0
  const last = props.state === 'running' && props.left_s <= LAST_MINUTE_S
  const arc = props.state === 'waiting' ? 0.22 : fraction
  return (
    <div className={[styles.porthole, last && styles.last, styles[props.state]].filter(Boolean).join(' ')}>
      <svg className={styles.drawing} viewBox="0 0 104 104" aria-hidden="true">
        <clipPath id={glass}>
          <circle cx="52" cy="52" r={GLASS_RADIUS} />
        </clipPath>
        <g clipPath={`url(#${glass})`}>
          <g className={styles.level} style={{ transform: `translateY(${levelY(fraction)}px)` }}>
            <path className={styles.water} d="M12 2c14-5 26-5 40-1.500s26 4 40-1.500v110H12z" />
          </g>
        </g>
        <circle className={styles.track} cx="52" cy="52" r={RING_RADIUS} fill="none" strokeWidth="7" />
        {arc > 0 && (
          <circle
            className={styles.ring}
            cx="52"
            cy="52"
            r={RING_RADIUS}
            fill="none"
            strokeWidth="7"
            strokeLinecap="round"
            strokeDasharray={`${arc * RING_LENGTH} ${RING_LENGTH}`}
            transform={props.state === 'waiting' ? undefined : 'rotate(-90 52 52)'}
          />
        )}
      </svg>
      <Middle {...props} />
    </div>
  )
}

function Middle(props: Props) {
  if (props.state === 'waiting') return null
  if (props.state === 'over') return <span className={styles.time}>{added.dashboard.finished}</span>
  const text = props.state === 'running' ? formatLeft(props.left_s * 1000) : '--:--'
  return (
    <span role="timer" className={`digits ${styles.time} ${text.length > 5 ? styles.long : ''}`}>
      <span className="visually-hidden">{added.dashboard.timeLeft} </span>
      {text}
    </span>
  )
}

const clamp = (n: number) => Math.min(1, Math.max(0, n))

/** Where the water's surface lies: at the top of the glass when full, below it when empty. */
function levelY(fraction: number): number {
  const top = 52 - GLASS_RADIUS
  return top + (1 - fraction) * 2 * GLASS_RADIUS
}
