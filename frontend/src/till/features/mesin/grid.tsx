import { type KeyboardEvent, useMemo, useRef, useState } from 'react'
import { formatLeft } from '@/shared/lib/text/format'
import { serverNow } from '@/shared/realtime/clock'
import { useCountdown } from '@/shared/realtime/use-countdown'
import type { Tile } from '@/till/api/types'
import styles from './grid.module.css'
import { mesinCopy } from './mesin-copy'
import { type Group, groupsOf, kindName, sharedStart } from './states'
import { MachineTile } from './tile'

/** Above this number of machines the tiles are small. */
export const MAX_LARGE = 24

interface Props {
  /** All machines of the outlet, in the server's order. */
  tiles: readonly Tile[]
  isShown: (tile: Tile) => boolean
  selected: number | null
  /** Null on the wall. */
  onOpen: ((id: number) => void) | null
}

/** The machines by kind, where they stand in the shop. A filter hides tiles and moves none to another order. */
export function Grid({ tiles, isShown, selected, onOpen }: Props) {
  const groups = useMemo(
    () =>
      groupsOf(tiles).map((group) => ({ ...group, start: sharedStart(group.tiles.map(({ nama }) => nama)) })),
    [tiles],
  )
  const [roving, setRoving] = useState<number | null>(null)
  const grid = useRef<HTMLDivElement>(null)
  const shown = tiles.filter(isShown)
  const first = groupsOf(shown)[0]?.tiles[0]?.id ?? null
  const tabbable = shown.some(({ id }) => id === roving) ? roving : first

  function onKeyDown(event: KeyboardEvent) {
    if (event.ctrlKey || event.metaKey || event.altKey || !grid.current) return
    const next = neighbour(grid.current, event.key)
    if (!next) return
    event.preventDefault()
    next.focus()
  }
  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: the tiles inside are the controls; the arrows only move between them
    <div
      ref={grid}
      className={styles.groups}
      data-many={tiles.length > MAX_LARGE || undefined}
      onKeyDown={onKeyDown}
      onFocus={(event) => {
        const id = machineOf(event.target)
        if (id !== null) setRoving(id)
      }}
    >
      {groups.map((group) => (
        <section key={group.kind} hidden={!group.tiles.some(isShown)} aria-labelledby={`jenis-${group.kind}`}>
          <Heading group={group} />
          <ul className={styles.tiles}>
            {group.tiles.map((tile) => (
              <li key={tile.id} hidden={!isShown(tile)}>
                <MachineTile
                  tile={tile}
                  start={group.start}
                  selected={tile.id === selected}
                  tabbable={tile.id === tabbable}
                  onOpen={onOpen}
                />
              </li>
            ))}
          </ul>
        </section>
      ))}
    </div>
  )
}

function Heading({ group: { kind, tiles } }: { group: Group }) {
  const ready = tiles.filter(({ keadaan }) => keadaan === 'siap').length
  // One that is due is no longer the next; the countdown draws this again at its end.
  const now = serverNow()
  const ends = tiles.flatMap(({ keadaan, ends_at }) =>
    keadaan === 'jalan' && ends_at !== null && ends_at > now ? [ends_at] : [],
  )
  const left_s = useCountdown(ends.length > 0 ? Math.min(...ends) : null)
  return (
    <div className={styles.heading}>
      <h2 id={`jenis-${kind}`}>{kindName(kind)}</h2>
      <p>
        <span>{mesinCopy.ready(ready)}</span>
        {left_s !== null && (
          <span>
            <span>{`, ${mesinCopy.next} `}</span>
            <span className="digits" translate="no">
              {formatLeft(left_s * 1000)}
            </span>
            <span>{` ${mesinCopy.nextLeft}`}</span>
          </span>
        )}
      </p>
    </div>
  )
}

export const tileOf = (id: number) => document.querySelector<HTMLElement>(`button[data-machine="${id}"]`)

export function machineOf(target: EventTarget | null): number | null {
  const id = target instanceof Element && target.closest('[data-machine]')?.getAttribute('data-machine')
  return id ? Number(id) : null
}

/** The tile to which a key leads from the focused one, as the tiles stand on the screen. */
function neighbour(grid: HTMLElement, key: string): HTMLElement | null {
  const all = [...grid.querySelectorAll<HTMLElement>('li:not([hidden]) > button[data-machine]')]
  const at = all.indexOf(document.activeElement as HTMLElement)
  const here = all[at]
  if (!here) return null
  switch (key) {
    case 'ArrowRight':
      return all[at + 1] ?? null
    case 'ArrowLeft':
      return all[at - 1] ?? null
    case 'Home':
      return all[0] ?? null
    case 'End':
      return all[all.length - 1] ?? null
    case 'ArrowDown':
      return nearest(here, all.slice(at + 1), 1)
    case 'ArrowUp':
      return nearest(here, all.slice(0, at).reverse(), -1)
    default:
      return null
  }
}

/** The tile of the next row that is closest to this one's column. `others` begin with the closest row. */
function nearest(here: HTMLElement, others: HTMLElement[], way: 1 | -1): HTMLElement | null {
  const { left, top } = here.getBoundingClientRect()
  const boxes = others.map((tile) => ({ tile, box: tile.getBoundingClientRect() }))
  const row = boxes.find(({ box }) => way * (box.top - top) > 1)?.box.top
  const inRow = boxes.filter(({ box }) => row !== undefined && Math.abs(box.top - row) <= 1)
  inRow.sort((a, b) => Math.abs(a.box.left - left) - Math.abs(b.box.left - left))
  return inRow[0]?.tile ?? null
}
