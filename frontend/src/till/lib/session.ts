import { create } from 'zustand'
import { isRecord, slot } from '@/shared/lib/storage'
import type { LoggedIn, Who } from '@/till/api/types'

/** Who is at the till. In the tab's own storage, so that a reload changes nobody, and a closed tab leaves nobody. */
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
  /** Whether the server knows this browser, as far as it has said. */
  paired: boolean
  /** Whose session the server ended, until somebody logs in: they did not lock the page. */
  ended: string | null
  begin: (answer: LoggedIn) => void
  /** Locks: whoever goes on types a PIN first. */
  end: () => void
  /** The server says that the session is over. */
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

/** May approve what a kasir may not do alone. */
export const mayApprove = (role: string) => role !== 'kasir'
