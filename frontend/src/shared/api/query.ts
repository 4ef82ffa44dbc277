import { onlineManager, QueryClient } from '@tanstack/react-query'
import { asApiError, TIMED_OUT } from '@/shared/api/error'

/**
 * Retries only what a second attempt can fix: no connection, or a fault of the server. A timeout is shown instead: the customer at the
 * machine would wait as long again for the same result. A call that the overloaded server refuses was repeated before (`untilAdmitted`).
 */
export function worthRetrying(count: number, error: unknown): boolean {
  const { status, unanswered, overloaded } = asApiError(error)
  return count < 2 && status !== TIMED_OUT && !overloaded && (unanswered || status >= 500)
}

export function makeQueryClient(): QueryClient {
  // The library assumes that every page starts with a network; a page without one would never learn that the network is back.
  onlineManager.setOnline(navigator.onLine)
  return new QueryClient({
    defaultOptions: {
      queries: {
        retry: worthRetrying,
        retryDelay: (attempt) => Math.min(1000 * 2 ** attempt, 8000),
        staleTime: 5_000,
        gcTime: 10 * 60_000,
        // An error is better than an endless wait when the phone wrongly reports that it is offline.
        networkMode: 'always',
        // With `networkMode: 'always'` the library would skip this: missed data is fetched when the network is back.
        refetchOnReconnect: true,
      },
      mutations: { retry: false, networkMode: 'always' },
    },
  })
}
