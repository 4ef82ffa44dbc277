import { create } from 'zustand'
import { isRecord, PRIVATE_PREFIX, slot } from '@/shared/lib/storage'
import { serverNow } from '@/shared/realtime/clock'

/** What the server last said about a machine. */
export interface Beat {
  /** Epoch ms of the server; null when nothing runs on it. */
  ends_at: number | null
  /** True after the tick that says that the time is over or the machine was given back. */
  over: boolean
}

interface BeatState {
  beats: Record<string, Beat>
  connection: 'connecting' | 'up' | 'down'
}

const isBeats = (value: unknown): value is Record<string, Beat> =>
  isRecord(value) && Object.values(value).every((beat) => isRecord(beat) && 'ends_at' in beat)

// Kept so that a reload, also without a network, goes on with the countdown at once.
const kept = slot<Record<string, Beat>>('local', `${PRIVATE_PREFIX}sisa`, isBeats)

export const useBeats = create<BeatState>(() => ({ beats: kept.read() ?? {}, connection: 'connecting' }))

/** Remembers a deadline. Ticks with the same deadline draw nothing. */
export function putBeat(idmesin: string, beat: Beat): void {
  const { beats } = useBeats.getState()
  const known = beats[idmesin]
  if (known && known.ends_at === beat.ends_at && known.over === beat.over) return
  const next = { ...beats, [idmesin]: beat }
  useBeats.setState({ beats: next })
  kept.write(next)
}

/** Forgets a machine whose run has ended, so that the next one on it starts unknown. */
export function dropOver(idmesin: string): void {
  const beat = useBeats.getState().beats[idmesin]
  if (!beat || (!beat.over && beat.ends_at !== null && beat.ends_at > serverNow())) return
  keepOnly(Object.keys(useBeats.getState().beats).filter((id) => id !== idmesin))
}

/** Drops what is kept about machines that no card shows any more. */
export function keepOnly(idmesin: string[]): void {
  const wanted = new Set(idmesin)
  const { beats } = useBeats.getState()
  const next = Object.fromEntries(Object.entries(beats).filter(([id]) => wanted.has(id)))
  if (Object.keys(next).length === Object.keys(beats).length) return
  useBeats.setState({ beats: next })
  kept.write(next)
}

export function forgetBeats(): void {
  useBeats.setState({ beats: {}, connection: 'connecting' })
}
