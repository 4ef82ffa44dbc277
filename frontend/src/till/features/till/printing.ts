import { create } from 'zustand'
import { slot } from '@/shared/lib/session/storage'

/** This device's setting: only some devices have a printer. */
const kept = slot('local', 'nyala.kasir.print', (value): value is boolean => typeof value === 'boolean')

const usePrintingState = create(() => ({ on: kept.read() ?? false }))

/** Whether each top-up prints its receipt. */
export const usePrinting = (): boolean => usePrintingState((state) => state.on)
export const isPrinting = (): boolean => usePrintingState.getState().on

export function setPrinting(on: boolean): void {
  kept.write(on)
  usePrintingState.setState({ on })
}
