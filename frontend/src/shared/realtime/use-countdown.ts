import { useCallback, useSyncExternalStore } from 'react'
import { secondsLeft, watchSeconds } from '@/shared/realtime/ticker'

/** Whole seconds left until a deadline, null when it is unknown. Renders once a second at most. */
export function useCountdown(ends_at: number | null): number | null {
  const subscribe = useCallback(
    (onChange: () => void) => (ends_at === null ? () => undefined : watchSeconds(ends_at, onChange)),
    [ends_at],
  )
  return useSyncExternalStore(subscribe, () => (ends_at === null ? null : secondsLeft(ends_at)))
}
