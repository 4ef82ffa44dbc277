import { useState } from 'react'
import { Navigate, Outlet, useParams } from 'react-router'
import { paths } from '@/shared/lib/page/paths'
import { useAuth } from '@/shared/lib/session/auth-store'
import { isTelp } from '@/shared/lib/text/telp'

/** Routes for customers without a login: a customer with a token is redirected to the dashboard (docs/product.md §2). */
export function PublicOnly() {
  const token = useAuth((state) => state.token)
  return token ? <Navigate to={paths.dashboard} replace /> : <Outlet />
}

/** Routes that need a token: without one to `/`, or to `/login` where the server has just ended the session. */
export function AuthOnly() {
  const token = useAuth((state) => state.token)
  const expired = useAuth((state) => state.expired)
  // Without a token at the start, the customer has already seen the notice of that expiry.
  const [entered] = useState(token !== null)
  return token ? <Outlet /> : <Navigate to={entered && expired ? paths.login : paths.welcome} replace />
}

/** Redirects a code step back one step when its address holds no number without prefix. */
export function WithTelp({ back }: { back: string }) {
  const { noTelp } = useParams()
  return isTelp(noTelp) ? <Outlet /> : <Navigate to={back} replace />
}
