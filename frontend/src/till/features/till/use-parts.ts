import { create } from 'zustand'
import { importAgain } from '@/shared/lib/net/import-again'

const load = importAgain(() => import('./parts/parts'))

/** What the till shows besides its first screen: a separate file. Each part is missing until the file was fetched. */
export const useParts = create<Partial<Awaited<ReturnType<typeof load>>['parts']>>(() => ({}))

export const fetchParts = () =>
  load()
    .then(({ parts }) => useParts.setState(parts))
    .catch(() => undefined)
