import { QueryClientProvider } from '@tanstack/react-query'
import { useEffect, useState } from 'react'
import { makeQueryClient } from '@/shared/api/query'
import { common } from '@/shared/copy/common'
import { followOverload } from '@/shared/lib/net/until-admitted'
import { keys } from '@/till/api/keys'
import { Catch } from '@/till/app/catch'
import { useFollowAlerts } from '@/till/app/follow-alerts'
import { useFollowSession } from '@/till/app/follow-session'
import { useFollowShift } from '@/till/app/follow-shift'
import { useFollowTopUps } from '@/till/app/follow-top-ups'
import { screenAt, till } from '@/till/app/screens'
import { Shell } from '@/till/app/shell'
import LogInPage from '@/till/features/masuk/masuk-page'
import PairPage from '@/till/features/pasang/pasang-page'
import { draft } from '@/till/features/till/draft'
import { listenForScans } from '@/till/lib/page/keyboard'
import { notify } from '@/till/lib/page/notices'
import { navigate, paths, usePath } from '@/till/lib/page/router'
import { NOT_OURS, useScans } from '@/till/lib/scan/scans'
import { TECHNICIAN } from '@/till/lib/session/role-name'
import { useSession } from '@/till/lib/session/session'
import { useHeartbeat } from '@/till/lib/session/use-connected'
import { useSells } from '@/till/lib/session/use-device'
import { type May, useMay } from '@/till/lib/session/use-me'
import { Notices } from '@/till/ui/notices'

export function App() {
  const [client] = useState(makeQueryClient)
  const who = useSession(({ session }) => session?.petugas.id)

  // Data that one member of staff has seen must not be visible to the next one.
  useEffect(
    () =>
      useSession.subscribe(({ session }, before) => {
        if (session?.petugas.id === before.session?.petugas.id) return
        if (session) draft.enter(session.petugas.id)
        client.removeQueries({ predicate: ({ queryKey }) => queryKey[0] !== keys.device[0] })
      }),
    [client],
  )
  useFollowTopUps()
  useFollowSession()
  useEffect(() => followOverload(() => notify.info(common.overloaded)), [])
  useEffect(() => listenForScans(useScans.getState().push, () => notify.failure(NOT_OURS)), [])

  return (
    <QueryClientProvider client={client}>
      <Catch>
        <Where key={who} />
      </Catch>
      <Notices />
    </QueryClientProvider>
  )
}

/** The path to return to after a login. */
let left = { path: paths.till as string, search: '' }

/** The screen of the address. A browser that is not paired, or has no login, has only one possible screen. */
function Where() {
  const path = usePath()
  const { session, paired } = useSession()
  const sells = useSells()
  const may = useMay()
  useHeartbeat()
  useFollowShift()
  useFollowAlerts()

  const wanted = place(path, { role: session?.petugas.role, paired, sells, may })
  useEffect(() => {
    if (wanted === path) return
    if (screenAt(path)) left = { path, search: window.location.search }
    navigate(wanted === left.path ? wanted + left.search : wanted, { replace: true })
    if (wanted === left.path) left = { path: paths.till, search: '' }
  }, [path, wanted])

  if (wanted === paths.pair) return <PairPage />
  if (wanted === paths.logIn) return <LogInPage />
  return session && <Shell path={wanted} session={session} />
}

function place(path: string, here: { role?: string; paired: boolean; sells: boolean; may: May }): string {
  if (path === paths.pair || !here.paired) return paths.pair
  if (here.role === undefined) return paths.logIn
  if (here.role === TECHNICIAN) return paths.machines
  const screen = screenAt(path === paths.logIn ? left.path : path) ?? till
  // Until the rights are known, the screen itself draws nothing.
  const shut = screen.rights !== undefined && here.may(screen.rights) === false
  return (screen.sells || shut) && !here.sells ? paths.transactions : shut ? paths.till : screen.path
}
