import { onlineManager, QueryClient } from '@tanstack/react-query'
import { asApiError, TIMED_OUT } from '@/shared/api/error'

/**
 * Tries again only what a second try can mend: no connection, or a fault of the server. A wait that ran
 * out is told instead: the customer at the machine would wait as long again, and again, for the same.
 */
export function worthRetrying(count: number, error: unknown): boolean {
  const { status, unanswered } = asApiError(error)
  return count < 2 && status !== TIMED_OUT && (unanswered || status >= 500)
}

export function makeQueryClient(): QueryClient {
  // The library takes it that every page begins with a network, and one that did not would never hear that it is back.
  onlineManager.setOnline(navigator.onLine)
  return new QueryClient({
    defaultOptions: {
      queries: {
        retry: worthRetrying,
        retryDelay: (attempt) => Math.min(1000 * 2 ** attempt, 8000),
        staleTime: 5_000,
        gcTime: 10 * 60_000,
        // An error is better than a wait without end when the phone is wrong about being offline.
        networkMode: 'always',
        // With it the library would leave this out: what was missed is fetched when the network is back.
        refetchOnReconnect: true,
      },
      mutations: { retry: false, networkMode: 'always' },
    },
  })
}
