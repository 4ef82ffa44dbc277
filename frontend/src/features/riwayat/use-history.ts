import { type InfiniteData, type QueryClient, useInfiniteQuery, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { keys } from '@/shared/api/keys'
import type { History } from '@/shared/api/model'
import { type Jenis, LIMIT_RIWAYAT, listHistory } from '@/shared/api/riwayat'

interface PageParam {
  skip: number
  /** Of the first page: the later ones go on as of that moment, though rows were added. */
  sampai: string | null
}

type Pages = InfiniteData<History, PageParam>

const FIRST: PageParam = { skip: 0, sampai: null }

/** The page after the last one; none when that one was not full. */
export function nextPage(pages: History[]): PageParam | undefined {
  const last = pages.at(-1)
  if (!last || last.returned < LIMIT_RIWAYAT) return undefined
  return { skip: pages.length * LIMIT_RIWAYAT, sampai: pages[0]?.sampai ?? null }
}

/** Only the first page stays, so that a new look asks for one page and not for all that were ever scrolled. */
function keepFirstPage(client: QueryClient, jenis: Jenis): void {
  const key = keys.riwayat(jenis)
  client.setQueryData<Pages>(
    key,
    (data) => data && { pages: data.pages.slice(0, 1), pageParams: data.pageParams.slice(0, 1) },
    // As old as it was: otherwise it would count as just fetched.
    { updatedAt: client.getQueryState(key)?.dataUpdatedAt ?? 0 },
  )
}

/** The history under one filter, page by page. */
export function useHistory(jenis: Jenis) {
  const client = useQueryClient()
  const [shown, setShown] = useState<Jenis | null>(null)
  if (shown !== jenis) {
    keepFirstPage(client, jenis)
    setShown(jenis)
  }
  const query = useInfiniteQuery({
    queryKey: keys.riwayat(jenis),
    queryFn: ({ pageParam, signal }) => listHistory({ ...pageParam, jenis }, signal),
    initialPageParam: FIRST,
    getNextPageParam: (_last, pages) => nextPage(pages),
    refetchOnWindowFocus: false,
  })
  return {
    ...query,
    entries: query.data?.pages.flatMap((page) => page.history_data ?? []),
    refresh: () => {
      keepFirstPage(client, jenis)
      return query.refetch()
    },
  }
}
