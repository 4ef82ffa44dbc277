import { QueryClientProvider } from '@tanstack/react-query'
import { useEffect, useRef, useState } from 'react'
import { useLocation, useNavigate } from 'react-router'
import { PageOutlet } from '@/app/page-boundary'
import { UpdateNotice } from '@/app/update-notice'
import { getDashboard } from '@/shared/api/dashboard'
import { takeBalance } from '@/shared/api/moved-balance'
import { makeQueryClient } from '@/shared/api/query'
import { customerId, useAuth } from '@/shared/lib/auth-store'
import { paths } from '@/shared/lib/paths'
import { takeUpSent } from '@/shared/lib/purchase-flow'
import { forgetBeats } from '@/shared/realtime/beats'
import { openRealtime, watchBalances } from '@/shared/realtime/socket'

/**
 * What only a logged-in customer needs: the query cache and the realtime connection. It lives as long
 * as the session, so that the next customer of the same phone starts with nothing of the last; also
 * when another tab changed the customer while this one slept.
 */
export default function AuthShell() {
  const id = useAuth(({ token }) => token && customerId(token))
  return <Session key={id} />
}

function Session() {
  const [client] = useState(makeQueryClient)
  useTakeUpSent()

  useEffect(() => watchBalances((news) => takeBalance(client, news)), [client])
  useEffect(() => {
    const close = openRealtime({
      token: () => useAuth.getState().token,
      // The token may merely be older than a password change in another tab: one real call decides.
      onRefused: () => getDashboard().catch(() => undefined),
    })
    return () => {
      close()
      forgetBeats()
    }
  }, [])

  return (
    <QueryClientProvider client={client}>
      <UpdateNotice />
      <PageOutlet />
    </QueryClientProvider>
  )
}

/**
 * A payment whose outcome nobody knows is asked on about when the app starts again, or its customer logs in again:
 * both lead to the dashboard, and on from there.
 */
function useTakeUpSent(): void {
  const navigate = useNavigate()
  const { pathname } = useLocation()
  const [sent] = useState(() => takeUpSent())
  const start = useRef(sent && pathname === paths.dashboard)
  // Not earlier: the router hears of no address before its own layout effect.
  useEffect(() => {
    if (!start.current) return
    start.current = false
    navigate(paths.pembayaran)
  }, [navigate])
}
