import { create } from 'zustand'
import { type ApiError, asApiError } from '@/shared/api/error'

/** The longest time that a call is repeated: six attempts, some forty seconds. */
const MAX_REPEATS = 5
const LONGEST_PAUSE_MS = 15_000
/** When a proxy has removed `Retry-After`. */
const PAUSE_MS = 2_000

/** Calls that the overloaded server has refused and that are about to be sent again. */
const useRefusedCalls = create<{ count: number }>(() => ({ count: 0 }))

/** Whether a call waits because the server is overloaded. */
export const useOverloaded = (): boolean => useRefusedCalls(({ count }) => count > 0)

/** Calls `onOverload` each time that the first call is refused. */
export const followOverload = (onOverload: () => void): (() => void) =>
  useRefusedCalls.subscribe(({ count }, before) => {
    if (count > 0 && before.count === 0) onOverload()
  })

/** Waits, and shows meanwhile that the server is overloaded when `error` says so. */
export async function whileOverloaded<T>(error: ApiError, wait: () => Promise<T>): Promise<T> {
  if (!error.overloaded) return wait()
  useRefusedCalls.setState(({ count }) => ({ count: count + 1 }))
  try {
    return await wait()
  } finally {
    useRefusedCalls.setState(({ count }) => ({ count: count - 1 }))
  }
}

/**
 * Sends a call again while the overloaded server refuses it. The server has done nothing by then, so this is safe for every call. The pauses
 * begin with the server's `Retry-After`, which is random, and double.
 */
export async function untilAdmitted<T>(send: () => Promise<T>, signal?: AbortSignal): Promise<T> {
  for (let repeat = 0; ; repeat++) {
    try {
      return await send()
    } catch (failure) {
      const error = asApiError(failure)
      if (!error.overloaded || repeat === MAX_REPEATS || signal?.aborted) throw failure
      const pause_ms = Math.min((error.retry_after_ms ?? PAUSE_MS) * 2 ** repeat, LONGEST_PAUSE_MS)
      await whileOverloaded(error, () => pauseOrAbort(pause_ms, signal))
      if (signal?.aborted) throw failure
    }
  }
}

function pauseOrAbort(pause_ms: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const done = () => {
      clearTimeout(timer)
      signal?.removeEventListener('abort', done)
      resolve()
    }
    const timer = setTimeout(done, pause_ms)
    signal?.addEventListener('abort', done)
  })
}
