import { create } from 'zustand'

interface LineState {
  /** Whether the server answered when it was last asked. */
  up: boolean
  answered: () => void
  lost: () => void
}

/** The line to the server, as the last call found it: a phone's own word for it is often wrong. */
export const useLine = create<LineState>((set) => ({
  up: true,
  answered: () => set({ up: true }),
  lost: () => set({ up: false }),
}))
