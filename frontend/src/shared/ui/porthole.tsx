import { Check, WashingMachine } from 'lucide-react'
import { type ReactNode, useEffect, useRef } from 'react'
import { copy } from '@/shared/copy/copy'
import { formatLeft } from '@/shared/lib/text/format'
import { lastOf } from '@/shared/lib/text/last-of'
import styles from './porthole.module.css'

// The drawing is in a box of 200: the ring, inside it the ticks of the last minute, then the glass.
const RING_RADIUS = 90
const RING_LENGTH = 2 * Math.PI * RING_RADIUS
const LAST_MINUTE_S = 60
/** Minimum water level before the end, as a share of the glass. */
const LEAST_WATER = 0.1
/** From this share on, the ring is drawn closed, so that no notch is left; below the other limit there is no room for the knob. */
const CLOSED = 0.985
const ROOM_FOR_KNOB = 0.05
/** The full circle where the duration of the cycle is unknown, as on a clock. */
const HOUR_S = 3_600
/** The arc that turns while the machine is being started. */
const WAITING_ARC = 0.22

type Run = { state: 'running'; left_s: number; duration_s: number }
type Props = { size?: 'hero' | 'pair' | 'small' } & (
  | Run
  /** A cycle runs; its deadline is not known yet. */
  | { state: 'unknown' }
  /** The device has not answered yet. */
  | { state: 'waiting' }
  /** The water runs out once, or has run out. */
  | { state: 'over' | 'finished' }
  /** The cycle has just started: the water flows in. */
  | { state: 'filling' }
  /** The machine can be bought: as text, or as a drawing. */
  | { state: 'ready' | 'free' }
  /** The machine is taken for this time; or the time is unknown. */
  | { state: 'taken'; left_s: number }
  | { state: 'still' }
)

/** The porthole of a machine: a ring and a water level that fall with the time left. */
export function Porthole({ size = 'small', ...props }: Props) {
  const glass = useRef<HTMLDivElement>(null)
  useRestOutOfSight(glass)
  const left = leftOf(props)
  const last = props.state === 'running' && props.left_s <= LAST_MINUTE_S
  const wet = left !== null || props.state === 'over' || props.state === 'filling'
  return (
    <div
      className={`${styles.porthole} ${styles[size]}`}
      data-state={props.state}
      data-last={last || undefined}
    >
      <div ref={glass} className={styles.glass}>
        {wet && <Water level={left === null ? null : Math.max(LEAST_WATER, left)} />}
        <svg className={styles.drawing} viewBox="0 0 200 200" fill="none" aria-hidden="true">
          <path className={styles.shine} d="M32 94a70 70 0 0 1 36-56" />
        </svg>
      </div>
      <svg className={styles.drawing} viewBox="0 0 200 200" fill="none" aria-hidden="true">
        <circle className={styles.track} cx="100" cy="100" r={RING_RADIUS} />
        {props.state === 'waiting' && <Arc part={WAITING_ARC} />}
        {props.state === 'running' && <Ring part={left ?? 0} />}
        {props.state === 'taken' && <Arc part={left ?? 0} />}
        {last && <Ticks left_s={props.left_s} />}
        {props.state === 'over' && <Drain />}
      </svg>
      <Middle {...props} />
    </div>
  )
}

/** Two layers, each moved as a whole; `level` is null where the style sheet animates them once. */
function Water({ level }: { level: number | null }) {
  const style = level === null ? undefined : { transform: `translateY(${(1 - level) * 100}%)` }
  return (
    <div className={styles.level} style={style}>
      <Wave className={styles.far} />
      <Wave className={styles.near} />
      {(level === null || level > 0.3) && <i className={styles.bubbles} />}
    </div>
  )
}

/** Four waves of half a glass each: shifted by half its width it looks the same. */
const Wave = ({ className }: { className: string | undefined }) => (
  <svg
    className={`${styles.wave} ${className}`}
    viewBox="0 0 400 112"
    preserveAspectRatio="none"
    aria-hidden="true"
  >
    <path d="M0 6q50-11 100 0t100 0 100 0 100 0v106H0z" />
  </svg>
)

const Arc = ({ part }: { part: number }) => (
  // From the top; in a group, because the style sheet turns the circle itself.
  <g transform="rotate(-90 100 100)">
    <circle
      className={styles.ring}
      cx="100"
      cy="100"
      r={RING_RADIUS}
      strokeDasharray={part < CLOSED ? `${part * RING_LENGTH} ${RING_LENGTH}` : undefined}
    />
  </g>
)

function Ring({ part }: { part: number }) {
  return (
    <>
      {part > 0 && <Arc part={part} />}
      {part >= ROOM_FOR_KNOB && part < CLOSED && (
        <g transform={`rotate(${part * 360} 100 100)`}>
          <circle className={styles.knob} cx="100" cy="10" r="8" />
          <circle className={styles.core} cx="100" cy="10" r="3" />
        </g>
      )}
    </>
  )
}

/** One for each second of the last minute, clockwise from the top. */
const TICKS = Array.from({ length: LAST_MINUTE_S }, (_, second) => {
  const angle = (second / LAST_MINUTE_S) * 2 * Math.PI
  const at = (radius: number) =>
    `${(100 + radius * Math.sin(angle)).toFixed(1)} ${(100 - radius * Math.cos(angle)).toFixed(1)}`
  return `M${at(77)}L${at(83.5)}`
})
const ALL_TICKS = TICKS.join('')

const Ticks = ({ left_s }: { left_s: number }) => (
  <>
    <path className={styles.tickGone} d={ALL_TICKS} />
    <path className={styles.tick} d={TICKS.slice(0, left_s).join('')} />
  </>
)

const Drain = () => (
  <>
    <circle className={styles.done} cx="100" cy="100" r={RING_RADIUS} />
    <path
      className={styles.swirl}
      d="M100 100c6-10 22-4 20 10-2 16-24 20-34 8-12-15-2-38 20-40 26-2 40 22 34 44"
    />
  </>
)

function Middle(props: Props) {
  switch (props.state) {
    case 'waiting':
    case 'still':
    case 'free':
      return (
        <Mark>
          <WashingMachine aria-hidden />
        </Mark>
      )
    case 'filling':
      return (
        <Mark>
          <Check strokeWidth={3} aria-hidden />
        </Mark>
      )
    case 'over':
    case 'finished':
      return <span className={styles.word}>{copy.dashboard.finished}</span>
    case 'taken':
      return null
    case 'ready':
      return <span className={styles.word}>{copy.service.ready}</span>
    default: {
      const text = props.state === 'running' ? formatLeft(props.left_s * 1000) : '--:--'
      return (
        <span role="timer" className={`digits ${styles.time}`} data-long={text.length > 5 || undefined}>
          <span className="visually-hidden">{`${copy.dashboard.timeLeft} `}</span>
          <span translate="no">{text}</span>
        </span>
      )
    }
  }
}

const Mark = ({ children }: { children: ReactNode }) => <span className={styles.mark}>{children}</span>

/** Stops the waves while they are not visible: they would still use a weak phone's battery. */
function useRestOutOfSight(glass: { current: HTMLElement | null }): void {
  useEffect(() => {
    const node = glass.current
    if (!node || typeof IntersectionObserver === 'undefined') return
    const seen = new IntersectionObserver((entries) => {
      node.toggleAttribute('data-rest', lastOf(entries)?.isIntersecting === false)
    })
    seen.observe(node)
    return () => seen.disconnect()
  }, [glass])
}

/** The rest of the cycle as a share of it; null where none is shown. */
function leftOf(props: Props): number | null {
  if (props.state === 'running') return clamp(props.left_s / Math.max(1, props.duration_s))
  return props.state === 'taken' ? clamp(props.left_s / HOUR_S) : null
}

const clamp = (n: number) => Math.min(1, Math.max(0, n))
