import type { QueryClient } from '@tanstack/react-query'
import { LogOut } from 'lucide-react'
import { useState } from 'react'
import { dashboardQuery } from '@/shared/api/dashboard'
import { keptHome } from '@/shared/api/kept-home'
import { extras } from '@/shared/copy/extras'
import { spec } from '@/shared/copy/spec'
import { useAuth } from '@/shared/lib/auth-store'
import { paths } from '@/shared/lib/paths'
import { pause } from '@/shared/lib/pause'
import { unfinished } from '@/shared/lib/purchases'
import { toast } from '@/shared/lib/toast'
import { useSubmit } from '@/shared/lib/use-submit'
import { dropSubscription, usePush } from '@/shared/push/push'
import { Button } from '@/shared/ui/button'
import { Dialog, Foot } from '@/shared/ui/dialog'
import styles from './akun-page.module.css'
import { endToken } from './calls'

const UNSUBSCRIBE_MS = 1_000

/**
 * Removes the token and lets the server end it, goes to the root and reloads: no data of this customer stays in memory (docs/product.md
 * §4).
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

/**
 * Unsubscribes this phone from pushes, also where the server does not receive the end of the token. The logout waits only briefly for it.
 */
async function unsubscribed(): Promise<void> {
  if (usePush.getState().state === 'on') await Promise.race([dropSubscription(), pause(UNSUBSCRIBE_MS)])
}

/** The logout waits at most this long to learn whether a machine still runs. */
const LOOK_MS = 1_500

/** Logs out; asks for confirmation first where `isBusy` reports a machine that runs or waits. */
export function Logout({ isBusy }: { isBusy?: () => Promise<boolean> }) {
  const [asking, setAsking] = useState(false)
  const { pending, submit } = useSubmit(async () => {
    if (await isBusy?.()) setAsking(true)
    else logout()
  })
  return (
    <>
      <LogoutButton pending={pending} onClick={isBusy ? () => submit() : logout} />
      <Dialog open={asking} onClose={() => setAsking(false)} title={extras.logout.title}>
        <p className={styles.muted}>{extras.logout.body}</p>
        <Foot>
          <Button onClick={() => setAsking(false)}>{extras.logout.stay}</Button>
          <LogoutButton onClick={logout} />
        </Foot>
      </Dialog>
    </>
  )
}

/** Whether a purchase of this customer runs, waits for its machine, or waits to be fetched. */
export async function busy(client: QueryClient): Promise<boolean> {
  const look = client.fetchQuery({ ...dashboardQuery(), staleTime: 0, retry: false }).catch(() => undefined)
  const fresh = await Promise.race([look, pause(LOOK_MS)])
  // The last known dashboard is better than no information at all.
  const home = fresh ?? client.getQueryData(dashboardQuery().queryKey) ?? keptHome.load()?.data.dashboard
  return unfinished(home).length > 0 || (home?.menunggu ?? []).length > 0
}

function LogoutButton({ pending = false, onClick }: { pending?: boolean; onClick: () => void }) {
  return (
    <Button
      variant="danger"
      className={styles.logout}
      icon={<LogOut size={20} aria-hidden />}
      pending={pending}
      onClick={onClick}
    >
      {spec.logOut}
    </Button>
  )
}
