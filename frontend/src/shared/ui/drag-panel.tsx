import { type DragControls, domMax, LazyMotion, useDragControls, useReducedMotion } from 'framer-motion'
import * as m from 'framer-motion/m'
import { type RefObject, useEffect, useRef } from 'react'
import styles from './dialog.module.css'
import type { PanelProps } from './panel'

/** A sheet closes when pulled this far (share of its height), or thrown this fast (px per second). */
const CLOSING = { far: 0.35, fast: 500 }

/** Share of the finger's movement that the sheet follows. */
const LOOSE = 1
const TIGHT = 0.12

/** No spring: the sheet stays at its edge. */
const STIFF = { bounceStiffness: 1_000_000, bounceDamping: 10_000_000 }
const SPRING = { bounceStiffness: 400, bounceDamping: 40 }

/** A panel that can be pulled down, and springs back or closes on release. */
export default function DragPanel({ locked, onClose, children }: PanelProps) {
  const controls = useDragControls()
  const still = useReducedMotion()
  const panel = useRef<HTMLDivElement>(null)
  useGrip(panel, controls)
  return (
    <LazyMotion strict features={domMax}>
      <m.div
        ref={panel}
        className={`${styles.panel} ${styles.loose}`}
        drag="y"
        dragListener={false}
        dragControls={controls}
        dragConstraints={{ top: 0, bottom: 0 }}
        dragElastic={{ top: 0, bottom: locked ? TIGHT : LOOSE }}
        dragTransition={still ? STIFF : SPRING}
        onDragEnd={(_, { offset, velocity }) => {
          const height = panel.current?.offsetHeight ?? 0
          if (offset.y > height * CLOSING.far || (offset.y > 0 && velocity.y > CLOSING.fast)) onClose()
        }}
        data-panel
      >
        {children}
      </m.div>
    </LazyMotion>
  )
}

/**
 * Starts a pull at the head at once. In other places it starts when a finger pulls down where nothing more can be scrolled: a mouse
 * selects text there.
 */
function useGrip(panel: RefObject<HTMLDivElement | null>, controls: DragControls): void {
  useEffect(() => {
    const node = panel.current
    if (!node) return
    /** A touch whose meaning is not known yet. */
    let begun: PointerEvent | undefined
    let pulling = false

    const onPointerDown = (event: PointerEvent) => {
      begun = undefined
      pulling = false
      const { target, isPrimary, button } = event
      if (!isPrimary || button !== 0 || !(target instanceof Element)) return
      // A sheet on top of this one is in the same page.
      if (target.closest('dialog') !== node.parentElement) return
      if (!target.closest('[data-grip]')) begun = event.pointerType === 'touch' ? event : undefined
      else if (!target.closest('button')) controls.start(event)
    }
    const onTouchMove = (event: TouchEvent) => {
      const [touch] = event.touches
      if (begun && touch) {
        const down = touch.clientY - begun.clientY
        const aside = Math.abs(touch.clientX - begun.clientX)
        if (down === 0 && aside === 0) return
        pulling = down > aside && event.touches.length === 1 && atTop(begun.target, node)
        if (pulling) controls.start(begun)
        begun = undefined
      }
      // Otherwise the browser uses the finger for its own scrolling.
      if (pulling && event.cancelable) event.preventDefault()
    }
    node.addEventListener('pointerdown', onPointerDown)
    node.addEventListener('touchmove', onTouchMove, { passive: false })
    return () => {
      node.removeEventListener('pointerdown', onPointerDown)
      node.removeEventListener('touchmove', onTouchMove)
    }
  }, [panel, controls])
}

/** Nothing between the target and the panel has been scrolled down. */
function atTop(from: EventTarget | null, panel: HTMLElement): boolean {
  let node = from instanceof Element ? from : null
  while (node && node.scrollTop <= 0) {
    if (node === panel) return true
    node = node.parentElement
  }
  return false
}
