import { copy } from '@/shared/copy/copy'
import { pause } from '@/shared/lib/net/pause'
import { paths } from '@/shared/lib/page/paths'
import { useAuth } from '@/shared/lib/session/auth-store'
import { toast } from '@/shared/lib/toast/toast'
import { dropSubscription, usePush } from '@/shared/push/push'
import { endToken } from './calls'

const UNSUBSCRIBE_MS = 1_000

/**
 * Removes the token and lets the server end it, goes to the root and reloads: no data of this customer stays in memory (docs/product.md
 * §4). `message` is shown there.
 */
export function leaveApp(message: string): void {
  const { token, signOut } = useAuth.getState()
  if (!signOut()) {
    toast.failure(copy.account.logoutFailed)
    return
  }
  if (token) endToken(token)
  toast.tellAfterReload({ kind: 'success', title: message })
  void unsubscribed().then(() => window.location.replace(paths.welcome))
}

/**
 * Unsubscribes this phone from pushes, also where the server does not receive the end of the token. Leaving waits only briefly for it.
 */
async function unsubscribed(): Promise<void> {
  if (usePush.getState().state === 'on') await Promise.race([dropSubscription(), pause(UNSUBSCRIBE_MS)])
}
