import { create } from 'zustand'
import { isRecord, PRIVATE_PREFIX, slot } from '@/shared/lib/session/storage'
import { serverNow } from '@/shared/realtime/clock'

/** The last report of the server about a machine. */
export interface Tick {
  /** Epoch ms of the server; null when no cycle runs. */
  ends_at: number | null
  /** True after the tick that reports the end of the time or the release of the machine. */
  over: boolean
}

interface TickState {
  ticks: Record<string, Tick>
  connection: 'connecting' | 'up' | 'down'
}

const isTicks = (value: unknown): value is Record<string, Tick> =>
  isRecord(value) && Object.values(value).every((tick) => isRecord(tick) && 'ends_at' in tick)

// Stored so that a reload, also without a network, continues the countdown at once.
const kept = slot<Record<string, Tick>>('local', `${PRIVATE_PREFIX}sisa`, isTicks)

export const useTicks = create<TickState>(() => ({ ticks: kept.read() ?? {}, connection: 'connecting' }))

/** Stores a deadline. A tick with the same deadline causes no rendering. */
export function putTick(idmesin: string, tick: Tick): void {
  const { ticks } = useTicks.getState()
  const known = ticks[idmesin]
  if (known && known.ends_at === tick.ends_at && known.over === tick.over) return
  const next = { ...ticks, [idmesin]: tick }
  useTicks.setState({ ticks: next })
  kept.write(next)
}

/** Removes a machine whose cycle has ended, so that its next cycle starts unknown. */
export function dropOver(idmesin: string): void {
  const tick = useTicks.getState().ticks[idmesin]
  if (!tick || (!tick.over && tick.ends_at !== null && tick.ends_at > serverNow())) return
  keepOnly(Object.keys(useTicks.getState().ticks).filter((id) => id !== idmesin))
}

/** Removes machines that no card shows any more. */
export function keepOnly(idmesin: string[]): void {
  const wanted = new Set(idmesin)
  const { ticks } = useTicks.getState()
  const next = Object.fromEntries(Object.entries(ticks).filter(([id]) => wanted.has(id)))
  if (Object.keys(next).length === Object.keys(ticks).length) return
  useTicks.setState({ ticks: next })
  kept.write(next)
}

export function forgetTicks(): void {
  useTicks.setState({ ticks: {}, connection: 'connecting' })
}
