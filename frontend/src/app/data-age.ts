import type { QueryClient } from '@tanstack/react-query'
import { create } from 'zustand'

/** The time at which the visible data was fetched (epoch ms): the age of its oldest part. Null where nothing fetched is shown. */
export const useDataAge = create<{ at: number | null }>(() => ({ at: null }))

/** Keeps the data's age up to date until the returned function is called. */
export function followDataAge(client: QueryClient): () => void {
  const cache = client.getQueryCache()
  let due = false
  const look = () => {
    due = false
    const times = cache
      .findAll({ type: 'active' })
      .map(({ state }) => state.dataUpdatedAt)
      .filter((at) => at > 0)
    useDataAge.setState({ at: times.length > 0 ? Math.min(...times) : null })
  }
  const leave = cache.subscribe(() => {
    // The cache notifies during rendering, many times in a row.
    if (!due) queueMicrotask(look)
    due = true
  })
  return () => {
    leave()
    useDataAge.setState({ at: null })
  }
}
