import { LazyMotion, MotionConfig } from 'framer-motion'
import type { ReactNode } from 'react'

/** Milliseconds to wait for an idle moment where the browser cannot tell one. */
const IDLE_FALLBACK_MS = 300

const whenIdle = () =>
  new Promise<void>((resolve) => {
    if ('requestIdleCallback' in window) window.requestIdleCallback(() => resolve())
    else setTimeout(resolve, IDLE_FALLBACK_MS)
  })

const features = () => whenIdle().then(() => import('./motion-features').then((file) => file.default))

/**
 * Room for `m` elements. The engine comes after the screen stands; until then `m` draws its `initial`
 * state, so nothing may begin invisible that is there from the start.
 */
export function Motion({ children }: { children: ReactNode }) {
  return (
    <LazyMotion strict features={features}>
      <MotionConfig reducedMotion="user">{children}</MotionConfig>
    </LazyMotion>
  )
}
