import { type RefObject, useEffect, useLayoutEffect, useRef } from 'react'
import { lessMotion } from '@/shared/lib/page/less-motion'
import { whenIdle } from '@/shared/lib/page/when-idle'

/** Duration and curve as in the style sheets: `--sheet` and `--ease-out`. */
const HOW = { duration: 0.28, ease: [0.2, 0.8, 0.2, 1] as const }

/** Fetched when the phone is idle; until then the list changes without animation. */
let animate: typeof import('framer-motion/dom/mini').animate | undefined

interface CardPosition {
  left: number
  top: number
}

/**
 * Animates a list: new entries slide up, moved entries slide to their new place, by transform and opacity alone. `ids` names the entries
 * in their order. The list is its entries' offset parent.
 */
export function useListMotion(list: RefObject<HTMLElement | null>, ids: string): void {
  const before = useRef<Map<Element, CardPosition> | null>(null)
  useEffect(() => {
    whenIdle()
      .then(() => import('framer-motion/dom/mini'))
      .then(
        (file) => {
          animate = file.animate
        },
        () => undefined,
      )
  }, [])

  // biome-ignore lint/correctness/useExhaustiveDependencies: another list is the event
  useLayoutEffect(() => {
    const was = before.current
    before.current = new Map()
    for (const node of list.current?.children ?? []) {
      if (!(node instanceof HTMLElement)) continue
      const { offsetLeft: left, offsetTop: top } = node
      before.current.set(node, { left, top })
      if (was && !lessMotion()) move(node, was.get(node), { left, top })
    }
  }, [list, ids])
}

function move(node: HTMLElement, from: CardPosition | undefined, to: CardPosition): void {
  if (!from) {
    void animate?.(node, { opacity: [0, 1], transform: ['scale(0.94)', 'none'] }, HOW)
    return
  }
  const [x, y] = [from.left - to.left, from.top - to.top]
  if (x !== 0 || y !== 0) void animate?.(node, { transform: [`translate(${x}px, ${y}px)`, 'none'] }, HOW)
}
