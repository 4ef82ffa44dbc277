import { QueryClientProvider } from '@tanstack/react-query'
import { useEffect, useState } from 'react'
import { PageOutlet } from '@/app/page-boundary'
import { makeQueryClient } from '@/app/query'
import { UpdateNotice } from '@/app/update-notice'
import { getDashboard } from '@/shared/api/dashboard'
import { customerId, useAuth } from '@/shared/lib/auth-store'
import { forgetBeats } from '@/shared/realtime/beats'
import { openRealtime } from '@/shared/realtime/socket'

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
