import { type RefObject, useEffect, useRef } from 'react'

/**
 * For something that sticks to the top of the screen: its height is said to all in a variable of this name, so
 * that what sticks too stands below it (`--stuck` in global.css is their sum).
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
