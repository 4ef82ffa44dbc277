import { useEffect, useRef } from 'react'

/** Begins to load this far before the end is seen. */
const MARGIN = '240px'

/** Stands at the end of a list; `onSeen` is called when it comes into view while `active`. */
export function Sentinel({ active, onSeen }: { active: boolean; onSeen: () => void }) {
  const mark = useRef<HTMLDivElement>(null)
  const latest = useRef(onSeen)
  latest.current = onSeen
  useEffect(() => {
    const node = mark.current
    if (!active || !node) return
    const observer = new IntersectionObserver(
      (entries) => {
        if (entries.some((entry) => entry.isIntersecting)) latest.current()
      },
      { rootMargin: MARGIN },
    )
    observer.observe(node)
    return () => observer.disconnect()
  }, [active])
  return <div ref={mark} aria-hidden="true" style={{ height: 1 }} />
}
