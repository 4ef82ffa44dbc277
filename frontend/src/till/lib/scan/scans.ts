import { create } from 'zustand'

/** Prefixes of our codes: a customer's, and a machine's sticker. */
export const CUSTOMER_CODE = 'NYC1.'
export const MACHINE_CODE = 'NYM1.'

export const isCustomerCode = (text: string) => text.startsWith(CUSTOMER_CODE)
export const isMachineCode = (text: string) => text.startsWith(MACHINE_CODE)

/** The message for any other code. */
export const NOT_OURS = 'Itu bukan kode pelanggan Nyala.'

interface ScansState {
  /** The scanned code that was not handled yet; only the newest one, because only one customer is at the till. */
  waiting: string | null
  push: (text: string) => void
  take: () => string | null
}

/** The queue between the code readers and the till: a scan on another screen, or on the locked one, waits here. */
export const useScans = create<ScansState>((set, get) => ({
  waiting: null,
  push: (text) => set({ waiting: text }),
  take() {
    const { waiting } = get()
    if (waiting !== null) set({ waiting: null })
    return waiting
  },
}))
