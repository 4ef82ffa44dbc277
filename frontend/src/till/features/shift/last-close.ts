import { create } from 'zustand'
import type { ShiftClosed } from '@/till/api/types'

interface LastClose {
  close: { result: ShiftClosed /** Who is to see it. */; who: number } | null
  show: (result: ShiftClosed, who: number) => void
  done: () => void
}

/** What the last count came to, until it has been seen: over the change of person in a handover, too. */
export const useLastClose = create<LastClose>((set) => ({
  close: null,
  show: (result, who) => set({ close: { result, who } }),
  done: () => set({ close: null }),
}))
