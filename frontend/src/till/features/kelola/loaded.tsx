import type { UseQueryResult } from '@tanstack/react-query'
import type { ReactElement } from 'react'
import { Failed } from '@/shared/ui/failed'
import { Spinner } from '@/shared/ui/spinner'

interface Props<T> {
  query: Pick<UseQueryResult<T>, 'data' | 'error' | 'isError' | 'isFetching' | 'refetch'>
  children: (data: T) => ReactElement
}

/** What a query has brought; before that a spinner, or why it failed. */
export function Loaded<T>({ query, children }: Props<T>) {
  const { data } = query
  if (data !== undefined) return children(data)
  if (!query.isError) return <Spinner large />
  return <Failed error={query.error} pending={query.isFetching} onRetry={() => void query.refetch()} />
}
