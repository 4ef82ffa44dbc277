import { useQuery } from '@tanstack/react-query'
import { getCustomerGlobal } from '@/shared/api/dashboard'
import { asApiError } from '@/shared/api/error'
import { keys } from '@/shared/api/keys'
import type { Akun } from '@/shared/api/model'
import { customerId, useAuth } from '@/shared/lib/auth-store'

/** A failed fetch of one's own account ends the session when it is gone (product.md §8). */
async function getOwnAkun(id: string, signal: AbortSignal): Promise<Akun> {
  try {
    return await getCustomerGlobal(Number(id), signal)
  } catch (error) {
    if (asApiError(error).status === 404) useAuth.getState().expire()
    throw error
  }
}

/** The customer's own account, by the id in the token. */
export function useAkun() {
  const id = useAuth(({ token }) => (token ? customerId(token) : null)) ?? ''
  return useQuery({
    queryKey: keys.akun(id),
    queryFn: ({ signal }) => getOwnAkun(id, signal),
  })
}
