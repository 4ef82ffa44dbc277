import type { QueryClient } from '@tanstack/react-query'
import { create } from 'zustand'

/** When what is on the screen was fetched (epoch ms): as old as the oldest part of it. Null where nothing fetched is shown. */
export const useDataAge = create<{ at: number | null }>(() => ({ at: null }))

/** Keeps it, until the returned function is called. */
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
    // Its news comes while screens are being drawn, and in heaps.
    if (!due) queueMicrotask(look)
    due = true
  })
  return () => {
    leave()
    useDataAge.setState({ at: null })
  }
}
