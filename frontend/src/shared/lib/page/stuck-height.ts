import { type RefObject, useEffect, useRef } from 'react'

/**
 * Publishes the height of an element that sticks to an edge of the screen in a CSS variable of this name, until the returned function is
 * called. Other sticky elements are placed beside it (`--stuck` and `--below` in global.css are the sums of all).
 */
export function publishHeight(node: Element, name: `--stuck-${string}`, onChange?: () => void): () => void {
  const root = document.documentElement.style
  const observer = new ResizeObserver(() => {
    root.setProperty(name, `${node.getBoundingClientRect().height}px`)
    onChange?.()
  })
  observer.observe(node)
  return () => {
    observer.disconnect()
    root.removeProperty(name)
  }
}

/** Publishes the height of the element with the returned ref, as long as it is in the page. */
export function useStuckHeight<E extends Element>(name: `--stuck-${string}`): RefObject<E | null> {
  const ref = useRef<E>(null)
  useEffect(() => (ref.current ? publishHeight(ref.current, name) : undefined), [name])
  return ref
}
