import { LogOut } from 'lucide-react'
import { endToken } from '@/shared/api/auth'
import { spec } from '@/shared/copy/spec'
import { useAuth } from '@/shared/lib/auth-store'
import { paths } from '@/shared/lib/paths'
import { toast } from '@/shared/lib/toast'
import { Button } from '@/shared/ui/button'

/**
 * Removes the token and has the server end it, goes to the root and reloads: nothing of this customer stays
 * in memory (docs/product.md §4).
 */
function logout(): void {
  const { token, signOut } = useAuth.getState()
  if (!signOut()) {
    toast.failure(spec.logoutFailed)
    return
  }
  if (token) endToken(token)
  toast.tellAfterReload({ kind: 'success', title: spec.loggedOut })
  window.location.replace(paths.welcome)
}

export function Logout() {
  return (
    <Button variant="danger" icon={<LogOut size={20} aria-hidden />} onClick={logout}>
      {spec.logOut}
    </Button>
  )
}
