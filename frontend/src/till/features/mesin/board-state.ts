import { isRecord } from '@/shared/lib/session/storage'
import type { Attention, BoardOutlet, Tile } from '@/till/api/types'

/** A subscription's answer: the whole board. */
export interface Snapshot {
  status: number
  versi: number
  server_time: number
  outlet: BoardOutlet
  mesin: Tile[]
  perhatian: Attention[]
}

/** An event of the board's topic: what changed; one with nothing else says that the socket works. */
export interface Change {
  versi: number
  server_time: number
  mesin?: Tile[]
  hilang?: number[]
  perhatian?: Attention[]
  outlet?: BoardOutlet
}

/** What the page knows of a board. */
export interface Board {
  /** The number of the last change. Each server counts by itself. */
  versi: number
  /** Whether no change is missing: false from a gap until the next snapshot. */
  complete: boolean
  outlet: BoardOutlet
  /** In the server's order. A tile that did not change stays the same object, so that only changed tiles are drawn again. */
  tiles: readonly Tile[]
  attention: readonly Attention[]
}

export function isSnapshot(value: unknown): value is Snapshot {
  return (
    isRecord(value) &&
    value.status === 200 &&
    isChange(value) &&
    isRecord(value.outlet) &&
    Array.isArray(value.mesin) &&
    Array.isArray(value.perhatian)
  )
}

export function isChange(value: unknown): value is Change {
  return isRecord(value) && typeof value.versi === 'number' && typeof value.server_time === 'number'
}

/** The board after a snapshot, which fills every gap. */
export function restored(before: Board | null, { versi, outlet, mesin, perhatian }: Snapshot): Board {
  return {
    versi,
    complete: true,
    outlet: before ? kept(before.outlet, outlet) : outlet,
    tiles: keptTiles(before?.tiles ?? [], mesin),
    attention: before ? kept(before.attention, perhatian) : perhatian,
  }
}

/** The board after an event. A number that is neither the next nor the last one means that a change is missing. */
export function changed(before: Board, change: Change): Board {
  const { versi, mesin = [], hilang = [], perhatian, outlet } = change
  if (!before.complete) return before
  const isBare = mesin.length === 0 && hilang.length === 0 && !perhatian && !outlet
  if (versi === before.versi) return before
  if (isBare || versi !== before.versi + 1) return { ...before, complete: false }

  const left = before.tiles.filter(({ id }) => !hilang.includes(id))
  const isKnown = ({ id }: Tile) => left.some((tile) => tile.id === id)
  return {
    versi,
    // A new machine comes without its place, which only a snapshot tells.
    complete: mesin.every(isKnown),
    outlet: outlet ?? before.outlet,
    tiles: arranged(before.tiles, left, mesin),
    attention: perhatian ?? before.attention,
  }
}

/** Puts changed tiles in their places. Where all tiles come, their order is the new one. */
function arranged(before: readonly Tile[], left: readonly Tile[], mesin: Tile[]): readonly Tile[] {
  if (mesin.length === 0) return left.length === before.length ? before : left
  const news = new Map(mesin.map((tile) => [tile.id, tile]))
  if (left.every(({ id }) => news.has(id))) return keptTiles(left, mesin)
  const added = mesin.filter(({ id }) => left.every((tile) => tile.id !== id))
  const places = left.map((tile) => kept(tile, news.get(tile.id) ?? tile))
  return [...places, ...added]
}

function keptTiles(before: readonly Tile[], now: readonly Tile[]): readonly Tile[] {
  const known = new Map(before.map((tile) => [tile.id, tile]))
  const tiles = now.map((tile) => {
    const old = known.get(tile.id)
    return old ? kept(old, tile) : tile
  })
  return tiles.length === before.length && tiles.every((tile, i) => tile === before[i]) ? before : tiles
}

/** The old object where the new one says the same. */
const kept = <T>(old: T, now: T): T => (JSON.stringify(old) === JSON.stringify(now) ? old : now)

/** The time after which a silent socket counts as deaf: two of the server's signs of life are missing. */
const LIVE_MS = 30_000

/** Whether the picture is current. A clock that was set back makes a message seem to come from the future: nothing is known then. */
export function isLive(heard_ms: number | null, now_ms: number): boolean {
  if (heard_ms === null) return false
  const age_ms = now_ms - heard_ms
  return age_ms >= 0 && age_ms < LIVE_MS
}
