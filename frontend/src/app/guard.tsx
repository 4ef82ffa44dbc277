import { Navigate, Outlet, useParams } from 'react-router'
import { useAuth } from '@/shared/lib/auth-store'
import { paths } from '@/shared/lib/paths'
import { isTelp } from '@/shared/lib/telp'

/** Routes explicitly without login: somebody who has a token belongs on the dashboard (docs/product.md §2). */
export function PublicOnly() {
  const token = useAuth((state) => state.token)
  return token ? <Navigate to={paths.dashboard} replace /> : <Outlet />
}

/** Routes that need a token: without one to `/`, or to `/login` when the server just refused it. */
export function AuthOnly() {
  const token = useAuth((state) => state.token)
  const exit = useAuth((state) => state.exit)
  return token ? <Outlet /> : <Navigate to={exit} replace />
}

/** A code step for something that is no number without prefix leads back one step. */
export function WithTelp({ back }: { back: string }) {
  const { noTelp } = useParams()
  return isTelp(noTelp) ? <Outlet /> : <Navigate to={back} replace />
}
