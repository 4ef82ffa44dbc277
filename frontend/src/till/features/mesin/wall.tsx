import { useEffect } from 'react'
import { formatLeft } from '@/shared/lib/text/format'
import { serverNow } from '@/shared/realtime/clock'
import { useCountdown } from '@/shared/realtime/use-countdown'
import type { Attention, Tile } from '@/till/api/types'
import { LOOKS, stateName } from '@/till/lib/machine/state-name'
import { useNow } from '@/till/lib/page/clock'
import { navigate, paths } from '@/till/lib/page/router'
import { useZone } from '@/till/lib/page/zone'
import { clockThere } from '@/till/lib/page/zone-clock'
import { entryKey } from '@/till/lib/session/use-attention'
import { attentionCopy } from '@/till/ui/attention-copy'
import { LevelSign, useEntryText } from '@/till/ui/attention-entry'
import { useBoard } from './board-connection'
import type { Board } from './board-state'
import { Grid } from './grid'
import { Liveness } from './liveness'
import { mesinCopy } from './mesin-copy'
import { CHIP_NAMES, CHIPS, concernedOf, isIn } from './states'
import tileStyles from './tile.module.css'
import styles from './wall.module.css'

/** Entries that fit into one row of a wide screen. */
const MAX_ENTRIES = 5
const MAX_SOON = 12

/** The board for a screen on the wall: nothing to press, the clock and the age of the data large. Escape leaves it. */
export function Wall({ board: { tiles, attention, outlet } }: { board: Board }) {
  const live = useBoard((state) => state.live)
  const concerned = concernedOf(attention)
  useEffect(() => {
    const onKey = ({ key }: KeyboardEvent) => {
      if (key === 'Escape') navigate(paths.machines)
    }
    document.addEventListener('keydown', onKey)
    return () => document.removeEventListener('keydown', onKey)
  }, [])
  return (
    <div className={styles.wall}>
      <header className={styles.header}>
        <div className={styles.titles}>
          <h1 className={styles.title}>{outlet.nama}</h1>
          <p>{mesinCopy.wallMachines(tiles.length)}</p>
        </div>
        <ul className={styles.counts}>
          {CHIPS.filter((chip) => chip !== 'semua').map((chip) => (
            <li key={chip} data-chip={chip}>
              <strong className="digits">{tiles.filter((tile) => isIn(chip, tile, concerned)).length}</strong>
              <span>{CHIP_NAMES[chip]}</span>
            </li>
          ))}
        </ul>
        <Age />
      </header>
      <div className={styles.body} data-stale={!live || undefined}>
        {attention.length > 0 && (
          <ul className={styles.entries} aria-label={attentionCopy.title}>
            {attention.slice(0, MAX_ENTRIES).map((entry) => (
              <Entry key={entryKey(entry)} entry={entry} />
            ))}
          </ul>
        )}
        {attention.length > MAX_ENTRIES && (
          <p className={styles.more}>{mesinCopy.wallMore(attention.length - MAX_ENTRIES)}</p>
        )}
        <div className={styles.columns}>
          <div className={styles.grid}>
            <Grid tiles={tiles} isShown={() => true} selected={null} onOpen={null} />
          </div>
          <Soon tiles={tiles} />
        </div>
      </div>
      <Legend />
    </div>
  )
}

/** The time of day, and how old the picture is. */
function Age() {
  const heard_ms = useBoard((state) => state.heard_ms)
  useNow(1_000)
  const zone = useZone()
  const age_s = heard_ms === null ? null : Math.max(0, Math.floor((Date.now() - heard_ms) / 1_000))
  return (
    <div className={styles.age}>
      <Liveness />
      <p className={`digits ${styles.clock}`} translate="no">
        {clockThere(serverNow(), zone)}
      </p>
      <p className={styles.ageText}>{age_s === null ? '' : mesinCopy.wallAge(age_s)}</p>
    </div>
  )
}

function Entry({ entry }: { entry: Attention }) {
  const { nama, tingkat, ditangani } = entry
  const text = useEntryText(entry)
  return (
    <li className={styles.entry} data-level={tingkat}>
      <LevelSign entry={entry} />
      <div className={styles.words}>
        <p className={styles.name}>{nama}</p>
        <p>{text}</p>
        <p className={styles.taken}>
          {ditangani ? mesinCopy.takenShort(ditangani.nama) : mesinCopy.notTaken}
        </p>
      </div>
    </li>
  )
}

/** The runs that end next. */
function Soon({ tiles }: { tiles: readonly Tile[] }) {
  const running = tiles.filter(({ keadaan, ends_at }) => keadaan === 'jalan' && ends_at !== null)
  running.sort((a, b) => (a.ends_at ?? 0) - (b.ends_at ?? 0))
  if (running.length === 0) return null
  return (
    <section className={styles.soon} aria-labelledby="segera">
      <h2 id="segera">{mesinCopy.wallSoon}</h2>
      <ol>
        {running.slice(0, MAX_SOON).map(({ id, nama, ends_at }) => (
          <li key={id}>
            <span className={styles.soonName}>{nama}</span>
            <Left ends_at={ends_at} />
          </li>
        ))}
      </ol>
    </section>
  )
}

function Left({ ends_at }: { ends_at: number | null }) {
  const left_s = useCountdown(ends_at)
  return (
    <span
      className={`digits ${styles.left}`}
      data-last={(left_s !== null && left_s <= 60) || undefined}
      translate="no"
    >
      {left_s === null ? '' : formatLeft(left_s * 1000)}
    </span>
  )
}

/** The meaning of each tile's shape and colour. */
function Legend() {
  return (
    <ul className={styles.legend} aria-label={mesinCopy.legend} data-many>
      {LOOKS.map((look) => (
        <li key={look}>
          <span className={`${tileStyles.tile} ${styles.sample}`} data-state={look} aria-hidden="true" />
          <span>{stateName(look)}</span>
        </li>
      ))}
      <li>
        <span className={`${tileStyles.tile} ${styles.sample}`} data-last aria-hidden="true" />
        <span>{mesinCopy.lastMinute}</span>
      </li>
    </ul>
  )
}
