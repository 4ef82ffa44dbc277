import { isRecord, slot } from '@/shared/lib/session/storage'

/** The server's clock minus the phone's, and the possible error. */
export interface Offset {
  offset_ms: number
  error_ms: number
}

/** If two measurements differ by more than latency explains plus this, the phone's clock was set. */
const CLOCK_SET_MS = 250

/**
 * Adds the measurement of a round trip: sent at `sent_ms`, answered with `server_ms`, back at `back_ms` (phone's clock, epoch ms). Keeps
 * the measurement with the lowest latency, unless the phone's clock was set in between.
 */
export function measure(known: Offset | null, sent_ms: number, server_ms: number, back_ms: number): Offset {
  const fresh: Offset = {
    offset_ms: server_ms - (sent_ms + back_ms) / 2,
    error_ms: Math.max(0, back_ms - sent_ms) / 2,
  }
  if (!known) return fresh
  const apart = Math.abs(fresh.offset_ms - known.offset_ms)
  const clockSet = apart > fresh.error_ms + known.error_ms + CLOCK_SET_MS
  return clockSet || fresh.error_ms < known.error_ms ? fresh : known
}

/** Whether a tick's `server_time` fits the known offset; if not, the clock was set or the network was suspended. */
export function fits(known: Offset, server_ms: number, now_ms: number): boolean {
  return Math.abs(server_ms - now_ms - known.offset_ms) < 2_000 + known.error_ms
}

const kept = slot<Offset>(
  'session',
  'nyala.jam',
  (value): value is Offset =>
    isRecord(value) && typeof value.offset_ms === 'number' && typeof value.error_ms === 'number',
)

let current: Offset | null = kept.read()

/** Estimated server time in epoch ms; the phone's own time before the first answer. */
export function serverNow(): number {
  return Date.now() + (current?.offset_ms ?? 0)
}

export function learn(sent_ms: number, server_ms: number, back_ms: number): void {
  current = measure(current, sent_ms, server_ms, back_ms)
  kept.write(current)
}

export function tickFits(server_ms: number): boolean {
  return current === null || fits(current, server_ms, Date.now())
}
