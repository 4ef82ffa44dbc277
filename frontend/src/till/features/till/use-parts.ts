import { create } from 'zustand'
import { importAgain } from '@/shared/lib/net/import-again'

const load = importAgain(() => import('./parts/parts'))

/** What the till shows besides its first screen: a separate file. Each part is missing until the file was fetched. */
export const useParts = create<Partial<Awaited<ReturnType<typeof load>>['parts']>>(() => ({}))

/** The network is gone, or a newer version was deployed. */
const AGAIN_MS = 15_000

let asked = false

/** Fetches the file, again and again until it is there. */
export function fetchParts(): void {
  if (asked) return
  asked = true
  load()
    .then(({ parts }) => useParts.setState(parts))
    .catch(() => {
      asked = false
      setTimeout(fetchParts, AGAIN_MS)
    })
}
