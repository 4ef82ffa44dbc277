import { useQuery } from '@tanstack/react-query'
import { useEffect, useState } from 'react'
import { accountQuery } from '@/shared/api/dashboard'
import type { Account } from '@/shared/api/model'
import { customerId, useAuth } from '@/shared/lib/session/auth-store'
import { offlineSnapshot } from '@/shared/lib/session/offline-snapshot'
import { isRecord } from '@/shared/lib/session/storage'

/** The customer can show the cashier the number without network, too. */
const kept = offlineSnapshot(
  'akun',
  (data): data is Account =>
    isRecord(data) &&
    [data.nama_awal, data.nama_akhir, data.telp, data.full_telp, data.updated_at].every(
      (part) => typeof part === 'string',
    ),
)

/** The customer's own profile, by the id in the token: first the last known one, then the present one. */
export function useAccount() {
  const id = useAuth(({ token }) => (token ? customerId(token) : null)) ?? ''
  const [seen] = useState(kept.load)
  const query = useQuery({
    ...accountQuery(id),
    ...(seen ? { initialData: seen.data, initialDataUpdatedAt: 0 } : {}),
  })
  const { data, dataUpdatedAt } = query
  useEffect(() => {
    if (data && dataUpdatedAt > 0) kept.save(data, dataUpdatedAt)
  }, [data, dataUpdatedAt])
  return query
}
