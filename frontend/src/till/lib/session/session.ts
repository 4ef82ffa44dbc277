import { create } from 'zustand'
import { isRecord, slot } from '@/shared/lib/session/storage'
import type { LoggedIn, Who } from '@/till/api/types'
import { TECHNICIAN } from '@/till/lib/session/role-name'

/**
 * The till session. It is kept in the tab's own storage: a reload keeps the member of staff, and closing the tab ends the session here.
 */
export interface Session {
  token: string
  petugas: Who
}

const kept = slot<Session>(
  'session',
  'nyala.kasir.session',
  (value): value is Session =>
    isRecord(value) &&
    typeof value.token === 'string' &&
    isRecord(value.petugas) &&
    typeof value.petugas.id === 'number' &&
    typeof value.petugas.nama === 'string' &&
    typeof value.petugas.role === 'string',
)

interface SessionState {
  session: Session | null
  /** Whether the server knows this browser, according to its last answer. */
  paired: boolean
  /** The person whose session the server ended, until the next login: they did not lock the page themselves. */
  ended: string | null
  begin: (answer: LoggedIn) => void
  /** Locks: the next member of staff must type a PIN first. */
  end: () => void
  /** The server has reported that the session is over. */
  expire: () => void
  unpair: () => void
  pair: () => void
}

export const useSession = create<SessionState>((set) => ({
  session: kept.read(),
  paired: true,
  ended: null,
  begin({ token, petugas }) {
    kept.write({ token, petugas })
    set({ session: { token, petugas }, paired: true, ended: null })
  },
  end() {
    kept.clear()
    set({ session: null, ended: null })
  },
  expire() {
    kept.clear()
    set(({ session }) => ({ session: null, ended: session?.petugas.nama ?? null }))
  },
  unpair() {
    kept.clear()
    set(({ session }) => ({ session: null, paired: false, ended: session?.petugas.nama ?? null }))
  },
  pair: () => set({ paired: true }),
}))

/** Whether the role may approve actions that a cashier may not do alone. */
export const mayApprove = (role: string) => role !== 'kasir' && role !== TECHNICIAN
