import type { QueryClient } from '@tanstack/react-query'
import { LogOut } from 'lucide-react'
import { useState } from 'react'
import { dashboardQuery } from '@/shared/api/dashboard'
import { keptHome } from '@/shared/api/kept-home'
import { copy } from '@/shared/copy/copy'
import { later } from '@/shared/copy/later'
import { useSubmit } from '@/shared/lib/form/use-submit'
import { pause } from '@/shared/lib/net/pause'
import { unfinished } from '@/shared/lib/session/purchases'
import { Button } from '@/shared/ui/button'
import { Dialog, Foot } from '@/shared/ui/dialog'
import styles from './akun-page.module.css'
import { leaveApp } from './leave-app'

/** The logout waits at most this long to learn whether a machine still runs. */
const LOOK_MS = 1_500

const logout = () => leaveApp(copy.account.loggedOut)

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
      <Dialog open={asking} onClose={() => setAsking(false)} title={later.logout.title}>
        <p className={styles.muted}>{later.logout.body}</p>
        <Foot>
          <Button onClick={() => setAsking(false)}>{later.logout.stay}</Button>
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
      {copy.account.logOut}
    </Button>
  )
}
