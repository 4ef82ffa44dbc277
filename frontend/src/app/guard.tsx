import { useState } from 'react'
import { Navigate, Outlet, useParams } from 'react-router'
import { isTelp } from '@/features/auth/telp'
import { useAuth } from '@/shared/lib/auth-store'
import { paths } from '@/shared/lib/paths'

/** Routes explicitly without login: somebody who has a token belongs on the dashboard (docs/product.md §2). */
export function PublicOnly() {
  const token = useAuth((state) => state.token)
  return token ? <Navigate to={paths.dashboard} replace /> : <Outlet />
}

/** Routes that need a token: without one to `/`, or to `/login` where the server has just ended the session. */
export function AuthOnly() {
  const token = useAuth((state) => state.token)
  const expired = useAuth((state) => state.expired)
  // Whoever comes without one later was told of that end before.
  const [entered] = useState(token !== null)
  return token ? <Outlet /> : <Navigate to={entered && expired ? paths.login : paths.welcome} replace />
}

/** A code step for something that is no number without prefix leads back one step. */
export function WithTelp({ back }: { back: string }) {
  const { noTelp } = useParams()
  return isTelp(noTelp) ? <Outlet /> : <Navigate to={back} replace />
}
