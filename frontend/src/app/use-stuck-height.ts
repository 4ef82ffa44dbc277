import { type RefObject, useEffect, useRef } from 'react'

/**
 * Publishes the height of an element that sticks to the top of the screen in a CSS variable of this name. Other sticky elements are
 * placed below it (`--stuck` in global.css is the sum of all).
 */
export function useStuckHeight<E extends HTMLElement>(variable: `--stuck-${string}`): RefObject<E | null> {
  const ref = useRef<E>(null)
  useEffect(() => {
    const node = ref.current
    if (!node) return
    const root = document.documentElement.style
    const observer = new ResizeObserver(() =>
      root.setProperty(variable, `${node.getBoundingClientRect().height}px`),
    )
    observer.observe(node)
    return () => {
      observer.disconnect()
      root.removeProperty(variable)
    }
  }, [variable])
  return ref
}
