import { type RefObject, useEffect, useEffectEvent, useLayoutEffect, useRef, useState } from 'react'
import { useLocation } from 'react-router'
import { keepPlace, type Place, placeOf } from './place'

/** Scrolling that has stopped for so long is a place to come back to. */
const STILL_MS = 150

/** What a finger or a key does first when somebody scrolls. */
const TOUCHES = ['wheel', 'touchstart', 'pointerdown', 'keydown'] as const

export interface Visit {
  key: string
  /** Where this visit was left; null for one that begins. */
  place: Place | null
}

/** The present visit of this screen: one more each time that its link is followed, an old one again by back and reload. */
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
  /** Whether as much is there as when the visit was left, or as there ever will be. */
  complete: boolean
}

/**
 * Brings a visit back to its place as soon as what was there is loaded, unless the customer scrolls before, and
 * remembers it. `list` holds the entries, each with its name in `data-entry`.
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
    // With less than there was, what is below the entry may be too short to scroll that far.
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
  // Also runs when React shows what it had hidden: who goes back before the next screen has come finds this one again.
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

  // biome-ignore lint/correctness/useExhaustiveDependencies: each visit has a place of its own
  useEffect(() => {
    goThere()
  }, [place, complete])

  useEffect(() => {
    // Otherwise the browser, too, would look for the place, in a list that is not there yet.
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
    // Before a tap or the way back takes the list away.
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
  // A screen that comes back does not come in: while it moves nothing is where it will be.
  for (const motion of document.getAnimations()) {
    const { target } = (motion.effect ?? {}) as KeyframeEffect
    if (target?.contains(node)) motion.finish()
  }
  window.scrollBy(0, node.getBoundingClientRect().top - top)
}
