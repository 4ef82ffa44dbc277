import { useLayoutEffect } from 'react'
import { useLocation } from 'react-router'

/** The focused element when the address last changed. */
let before: Element | null = null

/** Follows every change of screen; used once in the app. A layout effect runs before those of a screen that is rendered at once. */
export function useArrival(): void {
  const { key } = useLocation()
  // biome-ignore lint/correctness/useExhaustiveDependencies: each change of the address is an arrival
  useLayoutEffect(() => {
    before = document.activeElement
  }, [key])
}

/** Whether the focus has moved since: a screen whose data arrives late must not take it. */
export function focusMoved(): boolean {
  const now = document.activeElement
  return now !== null && now !== document.body && now !== before
}
