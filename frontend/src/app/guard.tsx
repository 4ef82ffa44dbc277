import { useEffect } from 'react'
import { Navigate, Outlet, useParams } from 'react-router'
import { isTelp } from '@/features/auth/telp'
import { useAuth } from '@/shared/lib/auth-store'
import { paths } from '@/shared/lib/paths'

/** Routes explicitly without login: somebody who has a token belongs on the dashboard (docs/product.md §2). */
export function PublicOnly() {
  const token = useAuth((state) => state.token)
  // Whoever was led here because a session was refused is here; from now on the way leads to `/` again.
  useEffect(() => useAuth.setState({ refused: false }), [])
  return token ? <Navigate to={paths.dashboard} replace /> : <Outlet />
}

/** Routes that need a token: without one to `/`, or to `/login` when the server just refused it. */
export function AuthOnly() {
  const token = useAuth((state) => state.token)
  const refused = useAuth((state) => state.refused)
  return token ? <Outlet /> : <Navigate to={refused ? paths.login : paths.welcome} replace />
}

/** A code step for something that is no number without prefix leads back one step. */
export function WithTelp({ back }: { back: string }) {
  const { noTelp } = useParams()
  return isTelp(noTelp) ? <Outlet /> : <Navigate to={back} replace />
}
