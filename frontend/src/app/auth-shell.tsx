import { QueryClientProvider } from '@tanstack/react-query'
import { lazy, Suspense, useEffect, useRef, useState } from 'react'
import { useLocation, useNavigate } from 'react-router'
import { followDataAge } from '@/app/data-age'
import { useFollowPush } from '@/app/follow-push'
import { takeBalance } from '@/app/moved-balance'
import { PageOutlet } from '@/app/page-boundary'
import { UpdateNotice } from '@/app/update-notice'
import { fetchPaidLayer, usePaid } from '@/features/purchase/paid/paid'
import { takeUpSent } from '@/features/purchase/purchase-flow'
import { getDashboard } from '@/shared/api/dashboard'
import { makeQueryClient } from '@/shared/api/query'
import { paths } from '@/shared/lib/page/paths'
import { customerId, useAuth } from '@/shared/lib/session/auth-store'
import { forgetPush } from '@/shared/push/push'
import { openRealtime, watchBalances } from '@/shared/realtime/socket'
import { forgetTicks } from '@/shared/realtime/ticks'

/**
 * The parts that only a logged-in customer needs: the query cache and the realtime connection. It exists as long as the session, so that
 * the next customer of the same phone sees no data of the last one. That also holds when another tab changed the customer while this tab
 * was suspended.
 */
export default function AuthShell() {
  const id = useAuth(({ token }) => token && customerId(token))
  return <Session key={id} />
}

function Session() {
  const [client] = useState(makeQueryClient)
  useTakeUpSent()

  useEffect(() => followDataAge(client), [client])
  useEffect(() => watchBalances((news) => takeBalance(client, news)), [client])
  useEffect(() => {
    const close = openRealtime({
      token: () => useAuth.getState().token,
      // The token may merely be older than a password change in another tab: one real call decides.
      onRefused: () => getDashboard().catch(() => undefined),
    })
    return () => {
      close()
      forgetTicks()
      forgetPush()
    }
  }, [])

  return (
    <QueryClientProvider client={client}>
      <FollowPush />
      <UpdateNotice />
      <PageOutlet />
      <JustPaid />
    </QueryClientProvider>
  )
}

function FollowPush() {
  useFollowPush()
  return null
}

const PaidLayer = lazy(fetchPaidLayer)

/** The paid message, shown over every screen for a moment; its file is already loaded. */
function JustPaid() {
  const paid = usePaid((state) => state.paid)
  useEffect(() => () => usePaid.setState({ paid: null }), [])
  if (!paid) return null
  return (
    <Suspense fallback={null}>
      <PaidLayer key={paid.idmesin} paid={paid} onClose={() => usePaid.setState({ paid: null })} />
    </Suspense>
  )
}

/**
 * Resumes a payment with an unknown outcome when the app starts again, or when its customer logs in again. Both lead to the dashboard,
 * and from there to the payment.
 */
function useTakeUpSent(): void {
  const navigate = useNavigate()
  const { pathname } = useLocation()
  const [sent] = useState(() => takeUpSent())
  const start = useRef(sent && pathname === paths.dashboard)
  // An effect, not a layout effect: the router handles no navigation before its own layout effect has run.
  useEffect(() => {
    if (!start.current) return
    start.current = false
    navigate(paths.pembayaran)
  }, [navigate])
}
