import { isRecord } from '@/shared/lib/storage'

/** How many entries of this app lie before the present one; its router counts them in the history's own state. */
export function entriesBefore(): number {
  const state: unknown = window.history.state
  return isRecord(state) && typeof state.idx === 'number' ? state.idx : 0
}
