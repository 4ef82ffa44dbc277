import { type InfiniteData, type QueryClient, type QueryKey, useInfiniteQuery } from '@tanstack/react-query'
import type { Rows } from '@/till/api/types'

export type Before = string | number | null
export type Pages<T> = InfiniteData<Rows<T>, Before>

/** While only the newest rows are loaded, new rows appear automatically. */
const LOOK_AGAIN_MS = 30_000

/** A list with pages that continue from a row, newest first; each visit starts with the first page. */
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

/** A longer list is not fetched again as a whole for one row. */
const isShort = <T>(data: Pages<T> | undefined) => (data?.pages.length ?? 0) <= 1

/** Puts the server's latest data of one row into the list. */
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
