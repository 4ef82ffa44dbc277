import { useAnimate } from 'framer-motion/mini'
import { Timer } from 'lucide-react'
import { useEffect, useEffectEvent, useLayoutEffect, useRef, useState } from 'react'
import { copy } from '@/shared/copy/copy'
import { lessMotion } from '@/shared/lib/page/less-motion'
import { clockTime, rupiah } from '@/shared/lib/text/format'
import { useTicks } from '@/shared/realtime/ticks'
import { Button } from '@/shared/ui/button'
import { Kawung } from '@/shared/ui/kawung'
import { Porthole } from '@/shared/ui/porthole'
import type { Paid } from './paid'
import styles from './paid-layer.module.css'

const FLIGHT_S = 0.28
/** Time after which the layer is gone, including the flight if there is one. */
const GONE_AFTER_MS = 2_400
/** The curve `--ease-out`. */
const EASE = [0.2, 0.8, 0.2, 1] as const

/**
 * Shows that the machine has started: its porthole fills, then flies to its card on the dashboard below. The layer closes on a timer, on
 * a touch and on Escape; it shows nothing that the dashboard does not show.
 */
export default function PaidLayer({ paid, onClose }: { paid: Paid; onClose: () => void }) {
  const [layer, animate] = useAnimate<HTMLElement>()
  const door = useRef<HTMLDivElement>(null)
  const leaving = useRef(false)
  const [there, setThere] = useState(false)
  useEffect(() => setThere(true), [])
  const ends_at = useTicks((state) => state.ticks[String(paid.idmesin)]?.ends_at) ?? paid.ends_at

  // The porthole flies in from its place on the receipt.
  useLayoutEffect(() => {
    if (!door.current || !paid.from || lessMotion()) return
    const to = door.current.getBoundingClientRect()
    void animate(
      door.current,
      { transform: [between(to, paid.from), 'none'] },
      { duration: FLIGHT_S, ease: EASE },
    )
  }, [animate, paid.from])

  const close = useEffectEvent(async () => {
    if (leaving.current) return
    leaving.current = true
    const card = document.querySelector(`[data-machine="${paid.idmesin}"]`)?.getBoundingClientRect()
    if (door.current && !lessMotion()) {
      const from = door.current.getBoundingClientRect()
      const how = { duration: FLIGHT_S, ease: EASE }
      const flight = card && { transform: ['none', between(from, card)] }
      if (flight) void animate(door.current, flight, how)
      await animate(layer.current, { opacity: [1, 0] }, how)
    }
    onClose()
  })
  useEffect(() => {
    const flight_ms = lessMotion() ? 0 : FLIGHT_S * 1000
    const timer = setTimeout(() => void close(), GONE_AFTER_MS - flight_ms)
    const onKey = ({ key }: KeyboardEvent) => key === 'Escape' && void close()
    const onTouch = () => void close()
    window.addEventListener('keydown', onKey)
    window.addEventListener('click', onTouch)
    return () => {
      clearTimeout(timer)
      window.removeEventListener('keydown', onKey)
      window.removeEventListener('click', onTouch)
    }
  }, [])

  return (
    <section ref={layer} className={styles.layer} aria-label={copy.pay.paid}>
      <Kawung />
      <div className={styles.middle}>
        <div ref={door} className={styles.door}>
          <Porthole size="hero" state="filling" />
        </div>
        {/* A screen reader announces only changes inside a live region, not its first content. */}
        <div role="status" className={styles.words}>
          {there && (
            <>
              <p className={styles.title}>{copy.pay.machineStarted}</p>
              <p>{copy.epay.serviceAt(paid.service, paid.machine)}</p>
            </>
          )}
        </div>
        <p className={`digits ${styles.until}`}>
          <Timer size={20} aria-hidden /> <span>{copy.dashboard.endsAt(clockTime(ends_at))}</span>
        </p>
      </div>
      <p className={styles.left}>
        {copy.pay.balanceLeft}{' '}
        <strong className="digits" translate="no">
          {rupiah(paid.balanceLeft)}
        </strong>
      </p>
      <Button className={styles.close} onClick={() => void close()}>
        {copy.pay.toDashboard}
      </Button>
    </section>
  )
}

/** The transform that moves an element at `here` over `there`. */
function between(here: DOMRect, there: DOMRect): string {
  const x = there.x + there.width / 2 - here.x - here.width / 2
  const y = there.y + there.height / 2 - here.y - here.height / 2
  return `translate(${x}px, ${y}px) scale(${there.width / here.width})`
}
