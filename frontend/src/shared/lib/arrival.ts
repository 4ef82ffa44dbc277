import { useLayoutEffect } from 'react'
import { useLocation } from 'react-router'

/** What had the focus when the address last changed. */
let before: Element | null = null

/** Watches every change of screen; once in the app. A layout effect, so that it comes before those of a screen that is there at once. */
export function useArrival(): void {
  const { key } = useLocation()
  // biome-ignore lint/correctness/useExhaustiveDependencies: each change of the address is an arrival
  useLayoutEffect(() => {
    before = document.activeElement
  }, [key])
}

/** Whether the focus was put somewhere since: a screen whose data came late takes it from nobody. */
export function focusMoved(): boolean {
  const now = document.activeElement
  return now !== null && now !== document.body && now !== before
}
