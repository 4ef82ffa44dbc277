import { useQuery } from '@tanstack/react-query'
import { useEffect, useState } from 'react'
import { getQrcode } from '@/shared/api/account'
import { keys } from '@/shared/api/keys'

/** A new code this often: each is good for five minutes, so the cashier never meets a dying one. */
const REFRESH_MS = 2 * 60_000
/** Older than this a code is not shown: the cashier would be refused (docs/contract.md §2: five minutes). */
const LIFE_MS = 5 * 60_000

/** The customer's QR as base64 PNG, fetched again every two minutes and on return to the screen. */
export function useQrcode() {
  const query = useQuery({
    queryKey: keys.qrcode,
    queryFn: ({ signal }) => getQrcode(signal),
    staleTime: 0,
    refetchInterval: REFRESH_MS,
    refetchOnWindowFocus: 'always',
    refetchOnReconnect: 'always',
  })
  const expired = useExpired(query.dataUpdatedAt)
  return { ...query, expired: query.data !== undefined && expired }
}

/** Whether a code fetched at `at` (epoch ms) is past its life; turns by itself. */
function useExpired(at: number): boolean {
  const [expiredAt, setExpiredAt] = useState(0)
  useEffect(() => {
    const timer = setTimeout(() => setExpiredAt(at), Math.max(0, at + LIFE_MS - Date.now()))
    return () => clearTimeout(timer)
  }, [at])
  return expiredAt === at
}
