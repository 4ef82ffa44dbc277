import { type InfiniteData, type QueryClient, type QueryKey, useInfiniteQuery } from '@tanstack/react-query'
import type { Rows } from '@/till/api/types'

export type Before = string | number | null
export type Pages<T> = InfiniteData<Rows<T>, Before>

/** Whoever only looks at the newest rows sees them come. */
const LOOK_AGAIN_MS = 30_000

/** A list whose pages go on from a row, the newest first; each visit begins with its first page. */
export function usePages<T>(
  queryKey: QueryKey,
  getPage: (before: Before, signal: AbortSignal) => Promise<Rows<T>>,
) {
  const query = useInfiniteQuery({
    queryKey,
    queryFn: ({ pageParam, signal }) => getPage(pageParam, signal),
    initialPageParam: null as Before,
    getNextPageParam: ({ lanjut }) => lanjut,
    gcTime: 0,
    refetchOnWindowFocus: ({ state }) => isShort(state.data),
    refetchInterval: ({ state }) => isShort(state.data) && LOOK_AGAIN_MS,
  })
  return { ...query, rows: query.data?.pages.flatMap(({ baris }) => baris) }
}

/** All that was scrolled through is not fetched again for one row. */
const isShort = <T>(data: Pages<T> | undefined) => (data?.pages.length ?? 0) <= 1

/** Puts into the list what the server has just said of one row. */
export function patchRow<T>(
  client: QueryClient,
  queryKey: QueryKey,
  isIt: (row: T) => boolean,
  change: (row: T) => T,
): void {
  client.setQueryData<Pages<T>>(
    queryKey,
    (data) =>
      data && {
        ...data,
        pages: data.pages.map((page) => ({
          ...page,
          baris: page.baris.map((row) => (isIt(row) ? change(row) : row)),
        })),
      },
  )
}
