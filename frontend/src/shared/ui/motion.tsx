import { LazyMotion, MotionConfig } from 'framer-motion'
import type { ReactNode } from 'react'
import { whenIdle } from '@/shared/lib/when-idle'

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
