import { type QueryClient, useInfiniteQuery, useQueryClient } from '@tanstack/react-query'
import { useEffect, useLayoutEffect, useRef } from 'react'
import { asked } from '@/shared/api/asked'
import { type HistoryKind, historyQuery } from './calls'
import type { Visit } from './use-place'

/** Keeps only the first pages, so that a new visit does not refetch all pages that were ever scrolled to. */
function keepFirstPages(client: QueryClient, kind: HistoryKind, count: number): void {
  const { queryKey } = historyQuery(kind)
  const state = client.getQueryState(queryKey)
  client.setQueryData(
    queryKey,
    (data) => data && { pages: data.pages.slice(0, count), pageParams: data.pageParams.slice(0, count) },
    // The data keeps its age; otherwise it would count as just fetched. This call also clears the invalidation mark, so invalidated data
    // gets the age 0.
    { updatedAt: state?.isInvalidated ? 0 : (state?.dataUpdatedAt ?? 0) },
  )
}

/** The history under one filter, page by page; at first as many pages as there were when the visit was left. */
export function useHistory(kind: HistoryKind, { key, place }: Visit) {
  const client = useQueryClient()
  const wanted = place?.pages ?? 1
  const shown = useRef<string | null>(null)
  // A layout effect runs before the query below fetches, which it does in a later effect.
  useLayoutEffect(() => {
    if (shown.current === key) return
    shown.current = key
    keepFirstPages(client, kind, wanted)
  }, [client, key, kind, wanted])
  const query = useInfiniteQuery({ ...historyQuery(kind), refetchOnWindowFocus: false })
  const { hasNextPage, isFetching, isError, fetchNextPage } = query
  const pages = query.data?.pages.length ?? 0
  const complete = pages >= wanted || isError || (pages > 0 && !hasNextPage)
  useEffect(() => {
    if (pages > 0 && !complete && !isFetching) void fetchNextPage()
  }, [pages, complete, isFetching, fetchNextPage])
  return {
    ...query,
    pages,
    complete,
    list: asked(
      query,
      query.data?.pages.flatMap((page) => page.history_data ?? []),
    ),
    refresh: () => {
      keepFirstPages(client, kind, 1)
      return query.refetch()
    },
  }
}
