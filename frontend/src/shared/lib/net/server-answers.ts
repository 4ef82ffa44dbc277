import { withTimeLimit } from '@/shared/lib/net/time-limit'

/** The server answers a probe within moments; a connection on which it takes longer is of no use. */
const PROBE_MS = 5_000

/** Whether the server can be reached and is healthy. */
export async function serverAnswers(): Promise<boolean> {
  try {
    const probe = (signal: AbortSignal) => fetch('/healthz', { cache: 'no-store', signal })
    return (await withTimeLimit(PROBE_MS, probe)).ok
  } catch {
    return false
  }
}
