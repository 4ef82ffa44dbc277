import { useId, useState } from 'react'
import { rupiah } from '@/shared/lib/text/format'
import { Button } from '@/shared/ui/button'
import type { MachineFigures } from '@/till/api/figure-calls'
import { useServerNow } from '@/till/lib/page/clock'
import { clockThere } from '@/till/lib/page/zone-clock'
import { countText, needsLook, partsOf, shortTime, splitMachines, thousands } from './figures'
import styles from './machines.module.css'
import { ringkasan as copy } from './ringkasan-copy'
import { TableBehind } from './table-behind'

const HOUR_MS = 3_600_000
/** Labelled hours of the day's axis. */
const EVERY_H = 3
/** How many of a machine's conditions are read out. */
const MAX_NAMED = 6

type Bounds = [start_ms: number, end_ms: number]

interface Props {
  machines: readonly MachineFigures[]
  /** The day's begin and end; null for several days, which have no bands. */
  bounds: Bounds | null
  over: boolean
  zone: string
}

/** Each machine's cycles beside what is usual, and what it did in the course of the day. */
export function Machines({ machines, bounds, over, zone }: Props) {
  const [all, setAll] = useState(false)
  const { look, usual } = splitMachines(machines, over)
  const largest = Math.max(1, ...machines.flatMap(({ siklus, biasa }) => [siklus, biasa ?? 0]))
  const row = (machine: MachineFigures) => (
    <Row key={machine.idmesin} machine={machine} largest={largest} bounds={bounds} over={over} zone={zone} />
  )
  const sum = (field: 'siklus' | 'menit_mati' | 'pendapatan') =>
    machines.reduce((total, one) => total + one[field], 0)
  return (
    <section className={styles.card} aria-labelledby="per-mesin">
      <div className={styles.head}>
        <h2 id="per-mesin" className={styles.title}>
          {copy.machines}
        </h2>
        <Legend bands={bounds !== null} />
      </div>
      {machines.length === 0 ? (
        <p className={styles.second}>{copy.noMachines}</p>
      ) : (
        <table className={styles.table} data-bands={bounds !== null || undefined}>
          <thead>
            <tr>
              <th scope="col">{copy.machine}</th>
              <th scope="col">{copy.cyclesHead}</th>
              {bounds && (
                <th scope="col">
                  <Hours bounds={bounds} zone={zone} />
                </th>
              )}
              <th scope="col" className={styles.number}>
                {copy.downHead}
              </th>
              <th scope="col" className={styles.number}>
                {copy.service}
              </th>
              <th scope="col" className={styles.number}>
                {copy.revenue}
              </th>
            </tr>
          </thead>
          {look.length > 0 && (
            <tbody>
              <tr className={styles.group}>
                <th scope="rowgroup" colSpan={6} className={styles.groupName}>
                  {copy.look}
                </th>
              </tr>
              {look.map(row)}
            </tbody>
          )}
          {usual.length > 0 && (
            <tbody className={styles.usual} data-open={all || look.length === 0 || undefined}>
              <tr className={styles.group}>
                <th scope="rowgroup" colSpan={6} className={styles.groupName}>
                  {copy.asUsual}
                </th>
              </tr>
              {usual.map(row)}
            </tbody>
          )}
          <tfoot>
            <tr>
              <th scope="row">{copy.all}</th>
              <td className={`digits ${styles.cycles}`}>{sum('siklus')}</td>
              {bounds && <td className={styles.bands} />}
              <td className={`digits ${styles.number}`} data-name={copy.downHead}>
                {shortTime(sum('menit_mati'))}
              </td>
              <td className={styles.number} />
              <td className={`digits ${styles.number}`} data-name={copy.revenue}>
                {rupiah(sum('pendapatan'))}
              </td>
            </tr>
          </tfoot>
        </table>
      )}
      {look.length > 0 && usual.length > 0 && !all && (
        <Button variant="quiet" className={styles.more} onClick={() => setAll(true)}>
          {copy.asUsualCount(usual.length)}
        </Button>
      )}
      {bounds && machines.length > 0 && (
        <TableBehind
          title={copy.bandsTitle}
          head={[copy.machine, copy.state, copy.from_, copy.until_]}
          rows={machines.flatMap(({ nama, pita }) =>
            pita.map(({ dari, sampai, keadaan }) => [
              nama,
              stateName(keadaan),
              clockThere(Date.parse(dari), zone),
              clockThere(Date.parse(sampai), zone),
            ]),
          )}
        />
      )}
    </section>
  )
}

const stateName = (state: string) => copy.states[state] ?? copy.states.tidak_diketahui ?? ''
/** A state of a newer server is drawn as unknown. */
const lookOf = (state: string) => (state in copy.states ? state : 'tidak_diketahui')

function Legend({ bands }: { bands: boolean }) {
  return (
    <span className={styles.legend}>
      {bands &&
        Object.entries(copy.states).map(([state, name]) => (
          <span key={state} className={styles.entry}>
            <svg className={styles.swatch} viewBox="0 0 12 12" aria-hidden="true">
              <Hatch id={`kunci-${state}`} width={4} height={12} />
              <rect
                width="12"
                height="12"
                rx="3"
                className={styles.part}
                data-state={state}
                fill={`url(#kunci-${state})`}
              />
            </svg>
            <span>{name}</span>
          </span>
        ))}
      <span className={styles.entry}>{copy.usualMark}</span>
    </span>
  )
}

/** Stripes: what is unknown never looks like a state that is known. */
function Hatch({ id, width, height }: { id: string; width: number; height: number }) {
  return (
    <defs>
      <pattern id={id} width={width} height={height} patternUnits="userSpaceOnUse">
        <rect width={width} height={height} className={styles.hatchGround} />
        <path
          d={`M0 ${height}L${width / 2} 0H${width}L${width / 2} ${height}Z`}
          className={styles.hatchLine}
        />
      </pattern>
    </defs>
  )
}

function Hours({ bounds: [start_ms, end_ms], zone }: { bounds: Bounds; zone: string }) {
  const count = Math.round((end_ms - start_ms) / HOUR_MS / EVERY_H) + 1
  return (
    <>
      <span className="visually-hidden">{copy.hours}</span>
      <span className={styles.hours} aria-hidden="true">
        {Array.from({ length: count }, (_, i) => {
          const at_ms = start_ms + i * EVERY_H * HOUR_MS
          const hour = clockThere(at_ms, zone).slice(0, 2)
          return <span key={at_ms}>{i > 0 && i === count - 1 && hour === '00' ? '24' : hour}</span>
        })}
      </span>
    </>
  )
}

interface RowProps {
  machine: MachineFigures
  largest: number
  bounds: Bounds | null
  over: boolean
  zone: string
}

function Row({ machine, largest, bounds, over, zone }: RowProps) {
  const { nama, siklus, biasa, menit_mati, sejak_servis, pendapatan } = machine
  const low = over && needsLook(machine, over) && biasa !== null && siklus < biasa
  return (
    <tr data-look={needsLook(machine, over) || undefined}>
      <th scope="row">{nama}</th>
      <td className={styles.cycles}>
        <svg className={styles.meter} viewBox="0 0 100 10" preserveAspectRatio="none" aria-hidden="true">
          <rect className={styles.track} y="1" width="100" height="8" rx="1.5" />
          <rect
            className={styles.fill}
            data-low={low || undefined}
            y="1"
            width={(100 * siklus) / largest}
            height="8"
            rx="1.5"
          />
          {biasa !== null && (
            <rect className={styles.mark} x={Math.min(99, (100 * biasa) / largest)} width="1" height="10" />
          )}
        </svg>
        <span className="digits">{copy.ofUsual(siklus, biasa === null ? null : countText(biasa))}</span>
      </td>
      {bounds && (
        <td className={styles.bands}>
          <Bands machine={machine} bounds={bounds} zone={zone} />
        </td>
      )}
      <td
        className={`digits ${styles.number}`}
        data-name={copy.downHead}
        data-down={menit_mati >= 30 || undefined}
      >
        {shortTime(menit_mati)}
      </td>
      <td className={`digits ${styles.number}`} data-name={copy.service}>
        {thousands(sejak_servis * 1_000)}
      </td>
      <td className={`digits ${styles.number}`} data-name={copy.revenue}>
        {rupiah(pendapatan)}
      </td>
    </tr>
  )
}

/** A minute of the day is one unit wide, so that the stripes are as wide at each machine. */
function Bands({
  machine: { nama, pita },
  bounds,
  zone,
}: Pick<RowProps, 'machine' | 'zone'> & { bounds: Bounds }) {
  const id = useId()
  const now_ms = useServerNow()
  const [start_ms, end_ms] = bounds
  const length = (end_ms - start_ms) / 60_000
  const named = pita.filter(({ keadaan }) => keadaan !== 'jalan').slice(0, MAX_NAMED)
  const text = named.map(
    ({ keadaan, dari, sampai }) =>
      `${stateName(keadaan)} ${clockThere(Date.parse(dari), zone)}–${clockThere(Date.parse(sampai), zone)}`,
  )
  const passed = Math.min(1, Math.max(0, (now_ms - start_ms) / (end_ms - start_ms)))
  return (
    <svg
      className={styles.day}
      viewBox={`0 0 ${length} 12`}
      preserveAspectRatio="none"
      role="img"
      aria-label={[nama, ...text].join(', ')}
    >
      <Hatch id={id} width={24} height={12} />
      <rect className={styles.ahead} width={length} height="12" />
      <rect className={styles.part} data-state="siap" width={length * passed} height="12" />
      {partsOf(pita, start_ms, end_ms).map(({ from, until, state }) => (
        <rect
          key={`${from} ${state}`}
          className={styles.part}
          data-state={lookOf(state)}
          fill={`url(#${id})`}
          x={from * length}
          width={(until - from) * length}
          height="12"
        />
      ))}
    </svg>
  )
}
