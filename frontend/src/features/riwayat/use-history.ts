import { type InfiniteData, type QueryClient, useInfiniteQuery, useQueryClient } from '@tanstack/react-query'
import { useEffect, useState } from 'react'
import { HISTORY_LIMIT, type HistoryKind, listHistory } from '@/shared/api/history'
import { keys } from '@/shared/api/keys'
import type { History } from '@/shared/api/model'
import type { Visit } from './use-place'

interface PageParam {
  skip: number
  /** Of the first page: the later ones go on as of that moment, though rows were added. */
  until: string | null
}

type Pages = InfiniteData<History, PageParam>

const FIRST: PageParam = { skip: 0, until: null }

/** The page after the last one; none when that one was not full. */
export function nextPage(pages: History[]): PageParam | undefined {
  const last = pages.at(-1)
  if (!last || last.returned < HISTORY_LIMIT) return undefined
  return { skip: pages.length * HISTORY_LIMIT, until: pages[0]?.sampai ?? null }
}

/** Only the first pages stay, so that a new look does not ask for all that were ever scrolled. */
function keepFirstPages(client: QueryClient, kind: HistoryKind, count: number): void {
  const key = keys.history(kind)
  const state = client.getQueryState(key)
  client.setQueryData<Pages>(
    key,
    (data) => data && { pages: data.pages.slice(0, count), pageParams: data.pageParams.slice(0, count) },
    // As old as it was: otherwise it would count as just fetched. That it is no longer true is forgotten by this, too.
    { updatedAt: state?.isInvalidated ? 0 : (state?.dataUpdatedAt ?? 0) },
  )
}

/** The history under one filter, page by page; to begin with as much as there was when the visit was left. */
export function useHistory(kind: HistoryKind, { key, place }: Visit) {
  const client = useQueryClient()
  const wanted = place?.pages ?? 1
  const [shown, setShown] = useState<string | null>(null)
  if (shown !== key) {
    keepFirstPages(client, kind, wanted)
    setShown(key)
  }
  const query = useInfiniteQuery({
    queryKey: keys.history(kind),
    queryFn: ({ pageParam, signal }) => listHistory({ ...pageParam, kind }, signal),
    initialPageParam: FIRST,
    getNextPageParam: (_last, pages) => nextPage(pages),
    refetchOnWindowFocus: false,
  })
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
    entries: query.data?.pages.flatMap((page) => page.history_data ?? []),
    refresh: () => {
      keepFirstPages(client, kind, 1)
      return query.refetch()
    },
  }
}
