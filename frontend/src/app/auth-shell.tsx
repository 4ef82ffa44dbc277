import { QueryClientProvider } from '@tanstack/react-query'
import { useState } from 'react'
import { Outlet } from 'react-router'
import { makeQueryClient } from '@/app/query'

/**
 * What only a logged-in customer needs: the query cache. It lives as long as the session, so that the
 * next customer of the same phone starts with an empty one.
 */
export default function AuthShell() {
  const [client] = useState(makeQueryClient)
  return (
    <QueryClientProvider client={client}>
      <Outlet />
    </QueryClientProvider>
  )
}
