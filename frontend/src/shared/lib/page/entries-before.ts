import { isRecord } from '@/shared/lib/session/storage'

/** Number of this app's history entries before the current one; its router counts them in the history state. */
export function entriesBefore(): number {
  const state: unknown = window.history.state
  return isRecord(state) && typeof state.idx === 'number' ? state.idx : 0
}
