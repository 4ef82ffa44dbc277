import { LogOut } from 'lucide-react'
import { spec } from '@/shared/copy/spec'
import { useAuth } from '@/shared/lib/auth-store'
import { paths } from '@/shared/lib/paths'
import { pause } from '@/shared/lib/pause'
import { toast } from '@/shared/lib/toast'
import { dropSubscription, usePush } from '@/shared/push/push'
import { Button } from '@/shared/ui/button'
import styles from './akun-page.module.css'
import { endToken } from './calls'

const UNSUBSCRIBE_MS = 1_000

/**
 * Removes the token and has the server end it, goes to the root and reloads: nothing of this customer stays
 * in memory (docs/product.md §4).
 */
function logout(): void {
  const { token, signOut } = useAuth.getState()
  if (!signOut()) {
    toast.failure(spec.logoutFailed)
    return
  }
  if (token) endToken(token)
  toast.tellAfterReload({ kind: 'success', title: spec.loggedOut })
  void unsubscribed().then(() => window.location.replace(paths.welcome))
}

/** Pushes end here, too, where the server may not have heard of it; nobody waits long for that. */
async function unsubscribed(): Promise<void> {
  if (usePush.getState().state === 'on') await Promise.race([dropSubscription(), pause(UNSUBSCRIBE_MS)])
}

export function Logout() {
  return (
    <Button
      variant="danger"
      className={styles.logout}
      icon={<LogOut size={20} aria-hidden />}
      onClick={logout}
    >
      {spec.logOut}
    </Button>
  )
}
