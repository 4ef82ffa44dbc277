import { rupiah } from '@/shared/lib/text/format'
import type { DayFigures, Period } from '@/till/api/figure-calls'
import { thousands, ticksTo } from './figures'
import { dateText, shortWeekday } from './period'
import styles from './ringkasan.module.css'
import { ringkasan as copy } from './ringkasan-copy'
import { TableBehind } from './table-behind'
import { useWidth } from './use-width'

const HEIGHT = 196
/** Room for the numbers beside and above the bars, and for the days below them. */
const ROOM = { left: 44, right: 12, top: 22, bottom: 38 }
/** Least width of a day's label. */
const LABEL = 34
const MAX_BAR = 30

interface Props {
  days: readonly DayFigures[]
  /** The days that were chosen: dark. */
  period: Period
  /** The day that they are compared with: outlined. */
  before: string | null
}

/** Revenue by day as bars, with the average. */
export function DaysChart({ days, period, before }: Props) {
  const [ref, width] = useWidth<HTMLDivElement>()
  const average = days.length === 0 ? 0 : days.reduce((sum, one) => sum + one.pendapatan, 0) / days.length
  const ticks = ticksTo(Math.max(...days.map(({ pendapatan }) => pendapatan), 1))
  const top = ticks[ticks.length - 1] ?? 1
  const [inner, low] = [width - ROOM.left - ROOM.right, HEIGHT - ROOM.bottom]
  const y = (amount: number) => low - ((low - ROOM.top) * Math.max(0, amount)) / top
  const step = inner / Math.max(days.length, 1)
  const bar = Math.min(MAX_BAR, step * 0.7)
  const every = Math.ceil(LABEL / step)
  const isShown = (day: string) => day >= period.dari && day <= period.sampai
  const few = days.length <= 31
  return (
    <figure className={styles.card} aria-labelledby="per-hari">
      <figcaption className={styles.head}>
        <h2 id="per-hari" className={styles.title}>
          {copy.days}
        </h2>
        <span className={styles.legend}>
          <span className={styles.key} data-key="shown">
            {copy.shown}
          </span>
          <span className={styles.key} data-key="average">
            {copy.average(rupiah(Math.round(average)))}
          </span>
        </span>
      </figcaption>
      <div ref={ref}>
        <svg
          className={styles.chart}
          viewBox={`0 0 ${width} ${HEIGHT}`}
          role="img"
          aria-label={`${copy.days}, ${copy.daysUnit}`}
        >
          {ticks.map((tick) => (
            <g key={tick}>
              <line className={styles.grid} x1={ROOM.left} x2={width} y1={y(tick)} y2={y(tick)} />
              <text className={styles.axis} x={ROOM.left - 8} y={y(tick) + 4} textAnchor="end">
                {thousands(tick)}
              </text>
            </g>
          ))}
          {days.map(({ tanggal, pendapatan }, i) => {
            const x = ROOM.left + i * step + step / 2
            const kind = isShown(tanggal) ? 'shown' : tanggal === before ? 'before' : undefined
            // From the last day back: the newest one always has its label.
            const labelled = (days.length - 1 - i) % every === 0
            return (
              <g key={tanggal} data-kind={kind}>
                <rect
                  className={styles.bar}
                  x={x - bar / 2}
                  width={bar}
                  y={y(pendapatan)}
                  height={Math.max(0, low - y(pendapatan))}
                  rx={Math.min(4, bar / 4)}
                />
                {labelled && (
                  <>
                    <text className={styles.axis} x={x} y={low + 16} textAnchor="middle">
                      {few ? Number(tanggal.slice(8)) : `${tanggal.slice(8)}/${tanggal.slice(5, 7)}`}
                    </text>
                    {few && (
                      <text className={styles.axis} x={x} y={low + 31} textAnchor="middle">
                        {shortWeekday(tanggal)}
                      </text>
                    )}
                  </>
                )}
              </g>
            )
          })}
          <line className={styles.average} x1={ROOM.left} x2={width} y1={y(average)} y2={y(average)} />
          {/* Over the line of the average. */}
          {before !== null &&
            days.map(({ tanggal, pendapatan }, i) =>
              isShown(tanggal) || tanggal === before ? (
                <text
                  key={tanggal}
                  className={styles.value}
                  x={ROOM.left + i * step + step / 2}
                  y={y(pendapatan) - 6}
                  textAnchor="middle"
                >
                  {thousands(pendapatan)}
                </text>
              ) : null,
            )}
        </svg>
      </div>
      <p className={styles.unit}>{copy.daysUnit}</p>
      <TableBehind
        title={copy.days}
        head={[copy.day, copy.revenue, copy.cyclesHead]}
        rows={days.map(({ tanggal, pendapatan, siklus }) => [
          `${shortWeekday(tanggal)} ${dateText(tanggal)}`,
          rupiah(pendapatan),
          String(siklus),
        ])}
      />
    </figure>
  )
}
