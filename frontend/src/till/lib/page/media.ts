import { useSyncExternalStore } from 'react'

/** Whether a media query matches now. */
export function useMedia(query: string): boolean {
  const subscribe = (onChange: () => void) => {
    const list = window.matchMedia(query)
    list.addEventListener('change', onChange)
    return () => list.removeEventListener('change', onChange)
  }
  return useSyncExternalStore(subscribe, () => window.matchMedia(query).matches)
}
