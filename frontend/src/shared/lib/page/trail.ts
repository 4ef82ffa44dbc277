import { useCallback, useLayoutEffect } from 'react'
import { useLocation, useNavigate } from 'react-router'
import { entriesBefore } from '@/shared/lib/page/entries-before'
import { paths } from '@/shared/lib/page/paths'
import { isRecord, slot } from '@/shared/lib/session/storage'
import { toast } from '@/shared/lib/toast/toast'

/** Number of history entries that are remembered; customers do not go back further with the arrow. */
const TRAIL_LIMIT = 100

/** Time limit for the event of a step back, for browsers that fire none. */
const REWIND_MS = 1_000

/** Pathnames by their index in this tab's history, stored so that a reload keeps them. */
type Trail = Record<string, string>

const trail = slot<Trail>(
  'session',
  'nyala.trail',
  (value): value is Trail =>
    isRecord(value) && Object.values(value).every((pathname) => typeof pathname === 'string'),
)

function note(pathname: string): void {
  const here = entriesBefore()
  const before = Object.entries(trail.read() ?? {}).filter(
    ([place]) => Number(place) < here && Number(place) > here - TRAIL_LIMIT,
  )
  trail.write(Object.fromEntries([...before, [here, pathname]]))
}

let shown = { here: '', before: '' }

/** The screen shown before the current one, regardless of the direction; empty for the first one of this page. */
export const cameFrom = (): string => shown.before

/** Records the customer's path through the app. Used once, around all screens. */
export function useTrail(): void {
  const { pathname, key } = useLocation()
  // biome-ignore lint/correctness/useExhaustiveDependencies: the same address may be at another index
  useLayoutEffect(() => note(pathname), [pathname, key])
  useLayoutEffect(() => {
    if (pathname !== shown.here) shown = { here: pathname, before: shown.here }
    toast.screen(pathname)
  }, [pathname])
}

/** Goes back one screen; where no screen of ours lies before, to `otherwise`. */
export function useBack(otherwise: string): () => void {
  const navigate = useNavigate()
  return () => (entriesBefore() > 0 ? navigate(-1) : navigate(otherwise, { replace: true }))
}

/** Goes to one screen, whatever lies before; if it is the previous entry, it goes back instead of adding a second entry. */
export function useBackTo(pathname: string): () => void {
  const navigate = useNavigate()
  return () =>
    trail.read()?.[entriesBefore() - 1] === pathname ? navigate(-1) : navigate(pathname, { replace: true })
}

/**
 * Goes to the dashboard at the end of e.g. a purchase: its steps are removed from the history, so that back leads home and never into
 * them again.
 */
export function useHome(): () => Promise<void> {
  const navigate = useNavigate()
  return useCallback(async () => {
    await rewind()
    navigate(paths.dashboard, { replace: true })
    navigate(paths.dashboard)
  }, [navigate])
}

/** Goes to the first entry of this app without drawing it. */
function rewind(): Promise<void> {
  const steps = entriesBefore()
  if (steps === 0) return Promise.resolve()
  return new Promise((resolve) => {
    const done = (event?: Event) => {
      // No other listener may receive the event: that screen must not be drawn, it may be the one with the camera.
      event?.stopImmediatePropagation()
      clearTimeout(timer)
      window.removeEventListener('popstate', done, { capture: true })
      resolve()
    }
    const timer = setTimeout(done, REWIND_MS)
    window.addEventListener('popstate', done, { capture: true })
    window.history.go(-steps)
  })
}
