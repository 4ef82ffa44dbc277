import { create } from 'zustand'
import { copy } from '@/shared/copy/copy'
import { clearCustomers, clearPrivate } from '@/shared/lib/session/storage'
import { readToken, TOKEN_KEY } from '@/shared/lib/session/token'
import { toast } from '@/shared/lib/toast/toast'

/** The token's claims that the app reads; only the server decides whether the token is valid. */
interface Claims {
  id_customer_global?: number | string
}

/** `id_customer_global` of a token; null when it cannot be read. */
export function customerId(token: string): string | null {
  try {
    const body = token.split('.')[1] ?? ''
    const json = atob(body.replace(/-/g, '+').replace(/_/g, '/'))
    const claims = JSON.parse(json) as Claims
    return claims.id_customer_global === undefined ? null : String(claims.id_customer_global)
  } catch {
    return null
  }
}

/** The id of the logged-in customer; empty without a login, or when the token has none. */
export function currentCustomer(): string {
  const { token } = useAuth.getState()
  return (token && customerId(token)) ?? ''
}

interface AuthState {
  token: string | null
  /** The server has ended the last session of this phone; the customer did not. */
  expired: boolean
  signIn: (token: string) => void
  /** The server no longer knows this session (401, or 404 of one's own account). Paid but undecided receipts stay. */
  expire: () => void
  /** Returns false when the token could not be removed (`gagal logout!`). */
  signOut: () => boolean
}

export const useAuth = create<AuthState>((set, get) => ({
  token: readToken(),
  expired: false,
  signIn(token) {
    // Input for a registration or a reset is no longer needed, or belongs to another customer.
    if (!get().token) clearPrivate(['session'])
    clearCustomers(customerId(token))
    try {
      window.localStorage.setItem(TOKEN_KEY, token)
    } catch {
      // Private mode: logged in until the page is closed.
    }
    set({ token, expired: false })
  },
  expire() {
    if (!removeToken()) return
    toast.info(copy.common.sessionEnded, copy.common.sessionEndedBody)
    set({ token: null, expired: true })
  },
  signOut() {
    const gone = removeToken()
    if (!gone) return false
    clearCustomers()
    set({ token: null, expired: false })
    return true
  },
}))

function removeToken(): boolean {
  try {
    window.localStorage.removeItem(TOKEN_KEY)
    clearPrivate()
    return window.localStorage.getItem(TOKEN_KEY) === null
  } catch {
    return false
  }
}

/** Another tab logged in or out: follow it. */
export function followOtherTabs(): () => void {
  const onStorage = (event: StorageEvent) => {
    if (event.key !== TOKEN_KEY && event.key !== null) return
    const token = readToken()
    const before = useAuth.getState().token
    // This tab's session data belongs to the previous customer.
    if (token !== before && (!token || !before || customerId(token) !== customerId(before))) {
      clearPrivate(['session'])
    }
    useAuth.setState({ token, expired: false })
  }
  window.addEventListener('storage', onStorage)
  return () => window.removeEventListener('storage', onStorage)
}
