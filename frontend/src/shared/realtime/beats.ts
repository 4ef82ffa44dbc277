import { create } from 'zustand'
import { isRecord, PRIVATE_PREFIX, slot } from '@/shared/lib/session/storage'
import { serverNow } from '@/shared/realtime/clock'

/** The last report of the server about a machine. */
export interface Beat {
  /** Epoch ms of the server; null when no cycle runs. */
  ends_at: number | null
  /** True after the tick that reports the end of the time or the release of the machine. */
  over: boolean
}

interface BeatState {
  beats: Record<string, Beat>
  connection: 'connecting' | 'up' | 'down'
}

const isBeats = (value: unknown): value is Record<string, Beat> =>
  isRecord(value) && Object.values(value).every((beat) => isRecord(beat) && 'ends_at' in beat)

// Stored so that a reload, also without a network, continues the countdown at once.
const kept = slot<Record<string, Beat>>('local', `${PRIVATE_PREFIX}sisa`, isBeats)

export const useBeats = create<BeatState>(() => ({ beats: kept.read() ?? {}, connection: 'connecting' }))

/** Stores a deadline. A tick with the same deadline causes no rendering. */
export function putBeat(idmesin: string, beat: Beat): void {
  const { beats } = useBeats.getState()
  const known = beats[idmesin]
  if (known && known.ends_at === beat.ends_at && known.over === beat.over) return
  const next = { ...beats, [idmesin]: beat }
  useBeats.setState({ beats: next })
  kept.write(next)
}

/** Removes a machine whose cycle has ended, so that its next cycle starts unknown. */
export function dropOver(idmesin: string): void {
  const beat = useBeats.getState().beats[idmesin]
  if (!beat || (!beat.over && beat.ends_at !== null && beat.ends_at > serverNow())) return
  keepOnly(Object.keys(useBeats.getState().beats).filter((id) => id !== idmesin))
}

/** Removes machines that no card shows any more. */
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
