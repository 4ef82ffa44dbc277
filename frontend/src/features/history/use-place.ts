import { type RefObject, useEffect, useEffectEvent, useLayoutEffect, useRef, useState } from 'react'
import { useLocation } from 'react-router'
import { keepPlace, type Place, placeOf } from './place'

/** Pause after which the scroll position is saved. */
const STILL_MS = 150

/** Events that show that the customer starts to scroll. */
const TOUCHES = ['wheel', 'touchstart', 'pointerdown', 'keydown'] as const

export interface Visit {
  key: string
  /** The place where this visit was left; null for a new visit. */
  place: Place | null
}

/** The current visit of this screen: following its link starts a new one, back and reload return to an old one. */
export function useVisit(): Visit {
  const { key } = useLocation()
  const [visit, setVisit] = useState<Visit>(() => begin(key))
  if (visit.key === key) return visit
  const next = begin(key)
  setVisit(next)
  return next
}

/** The router's key of every page that was opened by its address. */
const BY_ADDRESS = 'default'

function begin(key: string): Visit {
  return { key, place: key === BY_ADDRESS && !isOldPage() ? null : placeOf(key) }
}

function isOldPage(): boolean {
  const [page] = performance.getEntriesByType('navigation')
  return page instanceof PerformanceNavigationTiming && page.type !== 'navigate'
}

interface Loaded {
  pages: number
  /** Whether as many pages are loaded as when the visit was left, or as exist. */
  complete: boolean
}

/**
 * Scrolls a visit back to its place as soon as its entries are loaded, unless the customer scrolls first, and saves the place. `list`
 * holds the entries, each with its name in `data-entry`.
 */
export function usePlace(
  list: RefObject<HTMLElement | null>,
  visit: Visit,
  { pages, complete }: Loaded,
): void {
  const { key, place } = visit
  const due = useRef<Place | null>(null)
  function goThere() {
    const wanted = due.current
    // With fewer pages than before, the content below the entry may be too short to scroll that far.
    if (!complete || !wanted || !list.current) return
    const node = entriesOf(list.current).find(({ dataset }) => dataset.entry === wanted.entry)
    if (node) scrollTo(node, wanted.top)
    due.current = null
  }

  useLayoutEffect(() => {
    due.current = place
  }, [place])

  const shownAgain = useEffectEvent(() => {
    due.current = placeOf(key)
    goThere()
  })
  const shown = useRef(false)
  // This effect also runs when React shows a hidden screen: a customer who goes back before the next screen has loaded returns to this
  // one.
  useLayoutEffect(() => {
    if (shown.current) shownAgain()
    shown.current = true
  }, [])

  // Not a layout effect: the screen's title scrolls to the top after it was drawn.
  useEffect(() => {
    if (!place) window.scrollTo(0, 0)
    const giveUp = () => {
      due.current = null
    }
    for (const touch of TOUCHES) window.addEventListener(touch, giveUp, { passive: true })
    return () => {
      for (const touch of TOUCHES) window.removeEventListener(touch, giveUp)
    }
  }, [place])

  // biome-ignore lint/correctness/useExhaustiveDependencies: each visit has its own place
  useEffect(() => {
    goThere()
  }, [place, complete])

  useEffect(() => {
    // Otherwise the browser would also restore the position, in a list that is not loaded yet.
    window.history.scrollRestoration = 'manual'
    let timer: ReturnType<typeof setTimeout> | undefined
    const save = () => {
      clearTimeout(timer)
      if (due.current || !list.current) return
      const entry = entriesOf(list.current).find((node) => node.getBoundingClientRect().bottom > 0)
      const name = entry?.dataset.entry
      if (entry && name) keepPlace(key, { pages, entry: name, top: entry.getBoundingClientRect().top })
    }
    const onScroll = () => {
      clearTimeout(timer)
      timer = setTimeout(save, STILL_MS)
    }
    window.addEventListener('scroll', onScroll, { passive: true })
    // The place is saved before a tap or the way back removes the list.
    for (const end of ['pagehide', 'click', 'popstate']) window.addEventListener(end, save, { capture: true })
    return () => {
      clearTimeout(timer)
      window.removeEventListener('scroll', onScroll)
      for (const end of ['pagehide', 'click', 'popstate'])
        window.removeEventListener(end, save, { capture: true })
      window.history.scrollRestoration = 'auto'
    }
  }, [list, key, pages])
}

const entriesOf = (list: HTMLElement) => [...list.querySelectorAll<HTMLElement>('[data-entry]')]

function scrollTo(node: HTMLElement, top: number): void {
  // A restored screen skips its entry animation: while it moves, no element is at its final position.
  for (const motion of document.getAnimations()) {
    const { target } = (motion.effect ?? {}) as KeyframeEffect
    if (target?.contains(node)) motion.finish()
  }
  window.scrollBy(0, node.getBoundingClientRect().top - top)
}
