import { useLayoutEffect, useRef, useState } from 'react'

/** The width of an element in CSS pixels, so that a drawing's letters keep their size. */
export function useWidth<T extends Element>(first = 320) {
  const ref = useRef<T>(null)
  const [width, setWidth] = useState(first)
  useLayoutEffect(() => {
    const node = ref.current
    if (!node) return
    const measure = () => setWidth(Math.max(1, Math.round(node.getBoundingClientRect().width)))
    measure()
    const observer = new ResizeObserver(measure)
    observer.observe(node)
    return () => observer.disconnect()
  }, [])
  return [ref, width] as const
}
