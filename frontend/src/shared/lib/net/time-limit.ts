/**
 * Runs `work` with a signal that aborts after `limit_ms`, or together with `outer`. `AbortSignal.timeout` and `AbortSignal.any` would do
 * the same, and phones that the app supports lack them.
 */
export async function withTimeLimit<T>(
  limit_ms: number,
  work: (signal: AbortSignal) => Promise<T>,
  outer?: AbortSignal,
): Promise<T> {
  const limit = new AbortController()
  const abort = () => limit.abort()
  const timer = setTimeout(abort, limit_ms)
  outer?.addEventListener('abort', abort)
  try {
    return await work(limit.signal)
  } finally {
    clearTimeout(timer)
    outer?.removeEventListener('abort', abort)
  }
}
