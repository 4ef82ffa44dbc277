import { create } from 'zustand'

interface UpdateState {
  /** Loads the new version; null while this is the newest known. */
  apply: (() => void) | null
}

/** A new version that is there and waits to be taken. */
export const useUpdate = create<UpdateState>(() => ({ apply: null }))
