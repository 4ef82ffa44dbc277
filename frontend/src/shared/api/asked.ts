/** The reason for a missing or stale answer, and a retry. `Failed` takes it as props. */
export interface Failure {
  error: Error
  /** A retry is in progress. */
  pending: boolean
  onRetry: () => void
}

/** The state of data that a screen has requested. */
export type Asked<T> =
  | { kind: 'loading'; failure: null }
  | { kind: 'failed'; failure: Failure }
  /** `failure`: of a later request; the visible data may no longer be true. */
  | { kind: 'shown'; data: T; failure: Failure | null }

interface Query {
  error: Error | null
  isFetching: boolean
  refetch: () => unknown
}

/** The state of a query; `data`: the visible part of its answer. */
export function asked<T>({ error, isFetching, refetch }: Query, data: T | undefined): Asked<T> {
  const failure = error && { error, pending: isFetching, onRetry: () => void refetch() }
  if (data !== undefined) return { kind: 'shown', data, failure }
  return failure ? { kind: 'failed', failure } : { kind: 'loading', failure }
}
