import { ApiError, NO_NETWORK } from '@/shared/api/error'
import { onlineOrPause } from '@/shared/lib/net/pause'
import { serverAnswers } from '@/shared/lib/net/server-answers'
import { type Schedule, untilDecided } from '@/shared/lib/net/until-decided'
import { isRecord, slot } from '@/shared/lib/session/storage'

/** A page reloads without a tap at most once in this time. */
const AGAIN_MS = 60_000
/** Probes of the network; a pause ends early when the phone reports that the network is back. */
const SCHEDULE: Schedule = {
  pauses_ms: [2_000, 4_000, 8_000, 15_000, 15_000, 30_000, 30_000, 60_000, 60_000],
  after: 'stop',
}

const reloads = slot<Record<string, number>>(
  'session',
  'nyala.reloads',
  (value): value is Record<string, number> =>
    isRecord(value) && Object.values(value).every((at) => typeof at === 'number'),
)

/**
 * Notes that this page reloads now. Returns false where it did so less than a minute ago, or where the note would not survive the reload;
 * both prevent an endless loop.
 */
export function noteReload(pathname: string, now = Date.now()): boolean {
  const late = Object.entries(reloads.read() ?? {}).filter(([, at]) => Math.abs(now - at) < AGAIN_MS)
  if (late.some(([page]) => page === pathname)) return false
  return reloads.write(Object.fromEntries([...late, [pathname, now]]))
}

interface ReloadOnce {
  pathname: string
  /** Aborted when the screen is gone: then nothing is reloaded any more. */
  left: AbortSignal
  /** Called when the reload takes longer than a moment or does not happen: the customer must be informed. */
  onDelay: () => void
  there?: () => Promise<boolean>
  reload?: () => void
  wait?: (pause_ms: number) => Promise<void>
}

/**
 * Recovers a screen whose file could not be fetched: browsers remember the failure for the life of the page, so that only a reload helps.
 * The reload happens as soon as the server answers, and the customer's choices survive it.
 */
export async function reloadOnce({
  pathname,
  left,
  onDelay,
  there = serverAnswers,
  reload = () => window.location.reload(),
  wait = onlineOrPause,
}: ReloadOnce): Promise<void> {
  const probe = await untilDecided({
    async send() {
      if (!(await there())) throw new ApiError(NO_NETWORK, '')
    },
    maybeMade: false,
    isDecided: () => false,
    schedule: SCHEDULE,
    async wait(pause_ms) {
      if (left.aborted) return false
      onDelay()
      await wait(pause_ms)
      return !left.aborted
    },
  })
  if (left.aborted || probe.is !== 'answered') return
  if (noteReload(pathname)) reload()
  else onDelay()
}
