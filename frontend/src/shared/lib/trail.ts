import { useCallback, useLayoutEffect } from 'react'
import { useLocation, useNavigate } from 'react-router'
import { entriesBefore } from '@/shared/lib/entries-before'
import { paths } from '@/shared/lib/paths'
import { isRecord, slot } from '@/shared/lib/storage'
import { toast } from '@/shared/lib/toast'

/** So many entries of the browser's history are remembered; nobody goes back further by the arrow. */
const TRAIL_LIMIT = 100

/** A browser that does not tell that it went back is waited for no longer. */
const REWIND_MS = 1_000

/** Pathnames by their place in the history of this tab, so that a reload keeps them. */
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

/** The screen that was shown before the present one, whichever way led here; empty for the first of this page. */
export const cameFrom = (): string => shown.before

/** Remembers where the customer came by. Once, around all screens. */
export function useTrail(): void {
  const { pathname, key } = useLocation()
  // biome-ignore lint/correctness/useExhaustiveDependencies: the same address may stand in another place
  useLayoutEffect(() => note(pathname), [pathname, key])
  useLayoutEffect(() => {
    if (pathname !== shown.here) shown = { here: pathname, before: shown.here }
    toast.screen(pathname)
  }, [pathname])
}

/** Goes back one screen; where none of ours lies before, to `otherwise`. */
export function useBack(otherwise: string): () => void {
  const navigate = useNavigate()
  return () => (entriesBefore() > 0 ? navigate(-1) : navigate(otherwise, { replace: true }))
}

/** Leads to one screen whatever lies before, and leaves no second entry of it where it is just that one. */
export function useBackTo(pathname: string): () => void {
  const navigate = useNavigate()
  return () =>
    trail.read()?.[entriesBefore() - 1] === pathname ? navigate(-1) : navigate(pathname, { replace: true })
}

/**
 * To the dashboard when something is over, a purchase for one: nothing of it is left in the history, so that
 * back leads home and never into its steps again.
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
      // Nobody else hears of it: that screen must not be drawn, it may be the one with the camera.
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
