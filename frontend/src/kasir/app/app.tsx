import { QueryClientProvider } from '@tanstack/react-query'
import { useEffect, useState } from 'react'
import { keys } from '@/kasir/api/keys'
import { Catch } from '@/kasir/app/catch'
import { useFollowSession } from '@/kasir/app/follow-session'
import { useFollowShift } from '@/kasir/app/follow-shift'
import { useFollowTopUps } from '@/kasir/app/follow-top-ups'
import { screenAt, till } from '@/kasir/app/screens'
import { Shell } from '@/kasir/app/shell'
import LogInPage from '@/kasir/features/masuk/masuk-page'
import PairPage from '@/kasir/features/pasang/pasang-page'
import { draft } from '@/kasir/features/till/draft'
import { listenForScans } from '@/kasir/lib/keyboard'
import { tell } from '@/kasir/lib/notices'
import { navigate, paths, usePath } from '@/kasir/lib/router'
import { NOT_OURS, useScans } from '@/kasir/lib/scans'
import { useSession } from '@/kasir/lib/session'
import { useHeartbeat } from '@/kasir/lib/use-connected'
import { useSells } from '@/kasir/lib/use-device'
import { Notices } from '@/kasir/ui/notices'
import { makeQueryClient } from '@/shared/api/query'

export function App() {
  const [client] = useState(makeQueryClient)
  const who = useSession(({ session }) => session?.petugas.id)

  // What one person has seen is not the next one's to see.
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
  useEffect(() => listenForScans(useScans.getState().push, () => tell.failure(NOT_OURS)), [])

  return (
    <QueryClientProvider client={client}>
      <Catch>
        <Where key={who} />
      </Catch>
      <Notices />
    </QueryClientProvider>
  )
}

/** Where a login leads back to. */
let left: string = paths.till

/** The screen of the address; a browser that is not paired or has nobody at it has only one place to be. */
function Where() {
  const path = usePath()
  const { session, paired } = useSession()
  const sells = useSells()
  useHeartbeat()
  useFollowShift()

  const wanted = place(path, { someone: session !== null, paired, sells })
  useEffect(() => {
    if (wanted === path) return
    if (screenAt(path)) left = path
    navigate(wanted, { replace: true })
    if (wanted === left) left = paths.till
  }, [path, wanted])

  if (wanted === paths.pair) return <PairPage />
  if (wanted === paths.logIn) return <LogInPage />
  return session && <Shell path={wanted} session={session} />
}

function place(path: string, here: { someone: boolean; paired: boolean; sells: boolean }): string {
  if (path === paths.pair || !here.paired) return paths.pair
  if (!here.someone) return paths.logIn
  const screen = screenAt(path === paths.logIn ? left : path) ?? till
  return screen.sells && !here.sells ? paths.transactions : screen.path
}
