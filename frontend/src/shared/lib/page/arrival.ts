import { useLayoutEffect } from 'react'
import { useLocation, useNavigationType } from 'react-router'

/** The focused element when the address last changed. */
let before: Element | null = null

/** The customer has gone to another screen, maybe before the first one was loaded and had a title. */
let hasGoneOn = false

/** Follows every change of screen; used once in the app. A layout effect runs before those of a screen that is rendered at once. */
export function useArrival(): void {
  const { key } = useLocation()
  const type = useNavigationType()
  // biome-ignore lint/correctness/useExhaustiveDependencies: each change of the address is an arrival
  useLayoutEffect(() => {
    before = document.activeElement
    hasGoneOn ||= type === 'PUSH'
  }, [key])
}

/** Whether the focus has moved since: a screen whose data arrives late must not take it. */
export function focusMoved(): boolean {
  const now = document.activeElement
  return now !== null && now !== document.body && now !== before
}

/** Whether the customer is still on the screen that was loaded, or on the one that it led to. */
export function isFirstScreen(): boolean {
  return !hasGoneOn
}
