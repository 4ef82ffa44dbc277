import type { CSSProperties } from 'react'
import { rupiah } from '@/shared/lib/text/format'
import type { PriceRule } from '@/till/api/shop-calls'
import { useNow } from '@/till/lib/page/clock'
import { wallClock } from '@/till/lib/page/zone-clock'
import { layanan } from './layanan-copy'
import { weekOf } from './price-rules'
import styles from './week-chart.module.css'

const DAY_MIN = 24 * 60
const MINUTE_MS = 60_000
const HOURS = ['00', '06', '12', '18', '24']

interface Props {
  rules: readonly PriceRule[]
  /** The usual price, rupiah. */
  price: number
  zone: string
}

/** The prices of a week as bars, with the present moment. The list of the rules above says the same in words. */
export function WeekChart({ rules, price, zone }: Props) {
  const { day: today, minute } = wallClock(useNow(MINUTE_MS), zone)
  const prices = [...new Set([price, ...rules.map(({ harga }) => harga)])]
  const tone = (harga: number) => Math.min(prices.indexOf(harga), 6)
  const share = (minutes: number) => `${(100 * minutes) / DAY_MIN}%`
  return (
    <figure className={styles.chart} aria-hidden="true">
      {weekOf(rules).map((stretches, i) => (
        <div key={layanan.days[i]} className={styles.day} data-today={i + 1 === today || undefined}>
          <span className={styles.name}>{layanan.days[i]}</span>
          <span className={styles.bar}>
            {stretches.map(({ from, until, rule }) => (
              <span
                key={from}
                className={styles.part}
                data-tone={tone(rule === null ? price : (rules[rule]?.harga ?? price))}
                style={{ width: share(until - from) }}
              />
            ))}
            {i + 1 === today && (
              <span className={styles.now} style={{ '--at': share(minute) } as CSSProperties} />
            )}
          </span>
        </div>
      ))}
      <div className={styles.hours}>
        {HOURS.map((hour) => (
          <span key={hour}>{hour}</span>
        ))}
      </div>
      <figcaption className={styles.legend}>
        {prices.map((harga) => (
          <span key={harga} className={styles.entry}>
            <span className={styles.swatch} data-tone={tone(harga)} />
            <span className="digits">{rupiah(harga)}</span>
          </span>
        ))}
        <span className={styles.entry}>
          <span className={styles.mark} />
          <span>{layanan.chartNow}</span>
        </span>
      </figcaption>
    </figure>
  )
}
