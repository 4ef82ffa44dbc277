import { added } from '@/shared/copy/added'

/** Status of a call that got no answer from the server. */
export const NO_NETWORK = 0
/** Status of a call that waited too long. */
export const TIMED_OUT = -1

/** A call that did not end in 200. `message` is the server's sentence, empty when there was no answer. */
export class ApiError extends Error {
  readonly status: number
  /** How long the server wants to be left alone (its `Retry-After`), milliseconds; null when it did not say. */
  readonly retry_after_ms: number | null

  constructor(status: number, message: string, retry_after_ms: number | null = null) {
    super(message)
    this.name = 'ApiError'
    this.status = status
    this.retry_after_ms = retry_after_ms
  }

  /** True when nobody can say whether the server did what it was asked. */
  get unanswered(): boolean {
    return this.status === NO_NETWORK || this.status === TIMED_OUT
  }
}

export function asApiError(error: unknown): ApiError {
  return error instanceof ApiError ? error : new ApiError(NO_NETWORK, '')
}

/** What to tell the customer about a failed call: the server's sentence, else what to do. */
export function jelaskan(error: unknown): { judul: string; isi?: string | undefined } {
  const { status, message } = asApiError(error)
  if (status === NO_NETWORK) return { judul: added.failure.network, isi: added.failure.networkBody }
  if (status === TIMED_OUT) return { judul: added.failure.slow, isi: added.failure.slowBody }
  if (status >= 500) return { judul: message || added.failure.server, isi: added.failure.serverBody }
  return { judul: message || added.failure.server }
}

/** The same as lines below a title that the specification gives. */
export function penjelasan(error: unknown): string[] {
  const { judul, isi } = jelaskan(error)
  return isi ? [judul, isi] : [judul]
}
