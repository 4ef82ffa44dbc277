import { AnimatePresence, domMin, LazyMotion, MotionConfig } from 'framer-motion'
import * as m from 'framer-motion/m'
import type { FadeSwapProps } from './fade-swap'

/** The animated half of `FadeSwap`, with only the features it needs. */
export default function FadeSwapMotion({ id, children }: FadeSwapProps) {
  return (
    <LazyMotion strict features={domMin}>
      <MotionConfig reducedMotion="user">
        <AnimatePresence mode="wait" initial={false}>
          <m.div
            key={id}
            initial={{ opacity: 0, y: 6 }}
            animate={{ opacity: 1, y: 0 }}
            exit={{ opacity: 0, y: -6 }}
            transition={{ duration: 0.2 }}
          >
            {children}
          </m.div>
        </AnimatePresence>
      </MotionConfig>
    </LazyMotion>
  )
}
