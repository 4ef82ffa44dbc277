/** Why there is no answer, or no present one, and another try. As `Failed` takes it. */
export interface Failure {
  error: Error
  /** It is being asked again. */
  pending: boolean
  onRetry: () => void
}

/** What a screen knows of something that it has asked the server for. */
export type Asked<T> =
  | { kind: 'loading'; failure: null }
  | { kind: 'failed'; failure: Failure }
  /** `failure`: of a later try; what is shown may no longer be true. */
  | { kind: 'shown'; data: T; failure: Failure | null }

interface Query {
  error: Error | null
  isFetching: boolean
  refetch: () => unknown
}

/** The state of a query; `data`: what is shown of its answer. */
export function asked<T>({ error, isFetching, refetch }: Query, data: T | undefined): Asked<T> {
  const failure = error && { error, pending: isFetching, onRetry: () => void refetch() }
  if (data !== undefined) return { kind: 'shown', data, failure }
  return failure ? { kind: 'failed', failure } : { kind: 'loading', failure }
}
