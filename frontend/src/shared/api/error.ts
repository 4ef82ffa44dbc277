import { failure } from '@/shared/copy/common'

/** Status of a call without an answer from the server. */
export const NO_NETWORK = 0
/** Status of a call that timed out. */
export const TIMED_OUT = -1

/** The server's sentence when it refuses a call because of overload (docs/contract.md §1). */
export const OVERLOADED = 'sedang ramai, mencoba lagi'

/** A call that did not end in 200. `message` is the server's sentence, empty when there was no answer. */
export class ApiError extends Error {
  readonly status: number
  /** The server's `Retry-After`, milliseconds; null without one. */
  readonly retry_after_ms: number | null
  /** The envelope's `data`, which few refusals have. */
  readonly data: unknown

  constructor(status: number, message: string, retry_after_ms: number | null = null, data: unknown = null) {
    super(message)
    this.name = 'ApiError'
    this.status = status
    this.retry_after_ms = retry_after_ms
    this.data = data
  }

  /** True when it is unknown whether the server did what it was asked. */
  get unanswered(): boolean {
    return this.status === NO_NETWORK || this.status === TIMED_OUT
  }

  /** The overloaded server refused the call before it did anything: the same call may be sent again. */
  get overloaded(): boolean {
    return this.status === 503 && this.message === OVERLOADED
  }
}

export function asApiError(error: unknown): ApiError {
  return error instanceof ApiError ? error : new ApiError(NO_NETWORK, '')
}

/** The message for the customer about a failed call: the server's sentence, else advice. */
export function explain(error: unknown): { title: string; body?: string | undefined } {
  const { status, message } = asApiError(error)
  if (status === NO_NETWORK) return { title: failure.network, body: failure.networkBody }
  if (status === TIMED_OUT) return { title: failure.slow, body: failure.slowBody }
  if (status >= 500) return { title: message || failure.server, body: failure.serverBody }
  return { title: message || failure.server }
}

/** The same as lines below a title that docs/product.md gives. */
export function explanation(error: unknown): string[] {
  const { title, body } = explain(error)
  return body ? [title, body] : [title]
}
