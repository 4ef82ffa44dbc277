import { create } from 'zustand'

interface UpdateState {
  /** Loads the new version; null while this one is the newest known. */
  apply: (() => void) | null
}

/** A new version that is installed and waits to be activated. */
export const useUpdate = create<UpdateState>(() => ({ apply: null }))
