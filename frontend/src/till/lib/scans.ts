import { create } from 'zustand'

/** How the texts of our codes begin: a customer's, and a machine's sticker. */
export const CUSTOMER_CODE = 'NYC1.'
export const MACHINE_CODE = 'NYM1.'

export const isCustomerCode = (text: string) => text.startsWith(CUSTOMER_CODE)
export const isMachineCode = (text: string) => text.startsWith(MACHINE_CODE)

/** What is said of any other code. */
export const NOT_OURS = 'Itu bukan kode pelanggan Nyala.'

interface ScansState {
  /** What was scanned and nobody has looked at; the newest one, since only one customer stands at the till. */
  waiting: string | null
  push: (text: string) => void
  take: () => string | null
}

/** Between what reads codes and the till: a scan on another screen, or on the locked one, waits here. */
export const useScans = create<ScansState>((set, get) => ({
  waiting: null,
  push: (text) => set({ waiting: text }),
  take() {
    const { waiting } = get()
    if (waiting !== null) set({ waiting: null })
    return waiting
  },
}))
