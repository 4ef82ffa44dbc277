import { create } from 'zustand'

interface LineState {
  /** Whether the server answered the last call. */
  up: boolean
  answered: () => void
  lost: () => void
}

/** The state of the connection to the server, as the last call found it: a phone's own report of it is often wrong. */
export const useLine = create<LineState>((set) => ({
  up: true,
  answered: () => set({ up: true }),
  lost: () => set({ up: false }),
}))
