import { type ComponentType, type ReactNode, useEffect, useState } from 'react'
import { whenIdle } from '@/shared/lib/page/when-idle'

export interface FadeSwapProps {
  /** Key of the content; another key fades over to the new content. */
  id: string
  children: ReactNode
}

let loaded: ComponentType<FadeSwapProps> | null = null

/**
 * Content that fades over when it changes. The motion library loads when the phone is idle; until then, or when it cannot load, the
 * change is immediate.
 */
export function FadeSwap({ id, children }: FadeSwapProps) {
  const [Moving, setMoving] = useState(() => loaded)
  useEffect(() => {
    if (loaded) return
    let left = false
    whenIdle()
      .then(() => import('./fade-swap-motion'))
      .then(
        (file) => {
          loaded = file.default
          if (!left) setMoving(() => loaded)
        },
        () => undefined,
      )
    return () => {
      left = true
    }
  }, [])
  return Moving ? <Moving id={id}>{children}</Moving> : <div>{children}</div>
}
