import { onlineOrPause } from '@/shared/lib/pause'
import { isRecord, slot } from '@/shared/lib/storage'

/** One page reloads by itself at most once in this time. */
const AGAIN_MS = 60_000
/** The server answers this within moments; on a line that is slower a reload would not help either. */
const PROBE_MS = 5_000
/** Pauses before the network is looked for again, sooner when the phone says that it is back. */
const PAUSES_MS = [2_000, 4_000, 8_000, 15_000, 15_000, 30_000, 30_000, 60_000, 60_000, 60_000]

const reloads = slot<Record<string, number>>(
  'session',
  'nyala.reloads',
  (value): value is Record<string, number> =>
    isRecord(value) && Object.values(value).every((at) => typeof at === 'number'),
)

/**
 * Notes that this page reloads now. False where it did so less than a minute ago, or where the note would not outlive
 * the reload, so that it could go on for ever.
 */
export function noteReload(pathname: string, now = Date.now()): boolean {
  const late = Object.entries(reloads.read() ?? {}).filter(([, at]) => Math.abs(now - at) < AGAIN_MS)
  if (late.some(([page]) => page === pathname)) return false
  return reloads.write(Object.fromEntries([...late, [pathname, now]]))
}

interface ReloadOnce {
  pathname: string
  /** The screen is gone: nothing is reloaded any more. */
  left: AbortSignal
  /** It takes longer than a moment, or is not done by itself: the customer is told. */
  onTold: () => void
  there?: () => Promise<boolean>
  reload?: () => void
  wait?: (pause_ms: number) => Promise<void>
}

/**
 * For a screen whose file could not be fetched: browsers remember that for the life of the page, so that only a reload
 * helps. It is done as soon as the server answers, and what the customer had chosen is still there after it.
 */
export async function reloadOnce({
  pathname,
  left,
  onTold,
  there = serverAnswers,
  reload = () => window.location.reload(),
  wait = onlineOrPause,
}: ReloadOnce): Promise<void> {
  for (const pause_ms of PAUSES_MS) {
    const answers = await there()
    if (left.aborted) return
    if (answers && noteReload(pathname)) return reload()
    onTold()
    if (answers) return
    await wait(pause_ms)
    if (left.aborted) return
  }
}

async function serverAnswers(): Promise<boolean> {
  const limit = new AbortController()
  const timer = setTimeout(() => limit.abort(), PROBE_MS)
  try {
    const { ok } = await fetch('/healthz', { cache: 'no-store', signal: limit.signal })
    return ok
  } catch {
    return false
  } finally {
    clearTimeout(timer)
  }
}
