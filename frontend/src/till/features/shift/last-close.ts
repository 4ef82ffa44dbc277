import { create } from 'zustand'
import type { ShiftClosed } from '@/till/api/types'

interface LastClose {
  close: { result: ShiftClosed /** Who is to see it. */; who: number } | null
  show: (result: ShiftClosed, who: number) => void
  done: () => void
}

/** The result of the last count, kept until it has been seen: also over the change of staff in a handover. */
export const useLastClose = create<LastClose>((set) => ({
  close: null,
  show: (result, who) => set({ close: { result, who } }),
  done: () => set({ close: null }),
}))
