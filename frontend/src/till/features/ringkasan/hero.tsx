import { TrendingDown, TrendingUp } from 'lucide-react'
import { rupiah } from '@/shared/lib/text/format'
import { Kawung } from '@/shared/ui/kawung'
import type { Summary } from '@/till/api/figure-calls'
import { clockThere } from '@/till/lib/page/zone-clock'
import { changeText, countText, sentence, usualCycles } from './figures'
import { beforeText, periodText, plusDays } from './period'
import styles from './ringkasan.module.css'
import { ringkasan as copy } from './ringkasan-copy'

interface HeroProps {
  summary: Summary
  today: string
  zone: string
}

/** The figures of the chosen days: the amount first, one sentence last. */
export function Hero({ summary, today, zone }: HeroProps) {
  const { dari, sampai, pendapatan, siklus, banding, per_mesin } = summary
  const before = beforeText(summary, banding)
  const name =
    dari !== sampai ? '' : dari === today ? copy.today : dari === plusDays(today, -1) ? copy.yesterday : ''
  const title = [name, periodText(summary)].filter(Boolean).join(', ')
  const running = sampai >= today
  const usual = dari === sampai && !running ? usualCycles(per_mesin) : null
  return (
    <section className={styles.hero} aria-labelledby="angka">
      <Kawung />
      <h2 id="angka" className={styles.heroTitle}>
        {running ? `${title}, ${untilNow(summary, zone)}` : title}
      </h2>
      <p className={`digits ${styles.heroAmount}`}>{rupiah(pendapatan)}</p>
      <p className={styles.heroBefore}>
        <Change now={pendapatan} before={banding.pendapatan} />
        <span className={styles.beforeWords}>
          <span>{before}</span> <span className="digits">{rupiah(banding.pendapatan)}</span>
        </span>
      </p>
      <p className={styles.heroSecond}>
        {usual === null
          ? copy.cyclesBefore(siklus, before, banding.siklus)
          : copy.cyclesUsual(siklus, countText(usual))}
      </p>
      <p className={styles.sentence}>{sentence(summary)}</p>
    </section>
  )
}

/** `sampai 07.12`: the minute until which both weeks are counted. */
const untilNow = ({ banding }: Summary, zone: string) =>
  copy.until_minute(clockThere(Date.parse(banding.hingga), zone))

function Change({ now, before }: { now: number; before: number }) {
  const text = changeText(now, before)
  if (text === null) return null
  const up = now >= before
  return (
    <span className={styles.change} data-up={up || undefined}>
      {up ? <TrendingUp size={16} aria-hidden /> : <TrendingDown size={16} aria-hidden />}
      <span className="digits">{text}</span>
    </span>
  )
}

interface GlanceProps {
  summary: Summary
  name: string
  zone: string
}

/** Other days beside the chosen ones, with the same days a week before as two bars. */
export function Glance({ summary, name, zone }: GlanceProps) {
  const { dari, sampai, pendapatan, banding } = summary
  const largest = Math.max(pendapatan, banding.pendapatan, 1)
  const title =
    name === copy.yesterday ? `${name}, ${periodText(summary)}` : `${name} ${untilNow(summary, zone)}`
  return (
    <section className={styles.card} aria-label={title}>
      <h2 className={styles.glanceTitle}>{title}</h2>
      <p className={styles.glance}>
        <strong className={`digits ${styles.glanceAmount}`}>{rupiah(pendapatan)}</strong>
        <Change now={pendapatan} before={banding.pendapatan} />
      </p>
      <svg className={styles.two} viewBox="0 0 100 20" preserveAspectRatio="none" aria-hidden="true">
        <rect className={styles.track} width="100" height="8" rx="1" />
        <rect className={styles.now} width={(100 * pendapatan) / largest} height="8" rx="1" />
        <rect className={styles.track} y="12" width="100" height="8" rx="1" />
        <rect className={styles.then} y="12" width={(100 * banding.pendapatan) / largest} height="8" rx="1" />
      </svg>
      <p className={styles.second}>
        <span>{dari === sampai ? beforeText(summary, banding) : copy.weekBefore}</span>{' '}
        <span className="digits">{rupiah(banding.pendapatan)}</span>
      </p>
    </section>
  )
}
