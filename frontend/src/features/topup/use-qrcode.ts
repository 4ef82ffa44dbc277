import { useQuery } from '@tanstack/react-query'
import { useEffect, useState } from 'react'
import { asked, type Failure } from '@/shared/api/asked'
import { qrcodeQuery } from './calls'

/** Refresh interval: each code is valid for five minutes, so the cashier never gets one that is about to expire. */
const REFRESH_MS = 2 * 60_000
/** A code older than this is not shown: the cashier would be refused (docs/contract.md §2: five minutes). */
const MAX_AGE_MS = 5 * 60_000

type Code =
  | { kind: 'loading' }
  /** Base64. */
  | { kind: 'shown'; png: string }
  /** There never was a code, or the last one has expired, and no new one could be fetched. */
  | { kind: 'failed' | 'expired'; failure: Failure }

/** The customer's QR as base64 PNG, fetched again every two minutes and on return to the screen. */
export function useQrcode(): Code {
  const query = useQuery({
    ...qrcodeQuery(),
    refetchInterval: REFRESH_MS,
    refetchOnWindowFocus: 'always',
    refetchOnReconnect: 'always',
  })
  const expired = useExpired(query.dataUpdatedAt)
  const { kind, failure } = asked(query, query.data)
  if (query.data !== undefined && !expired) return { kind: 'shown', png: query.data }
  if (!failure || failure.pending) return { kind: 'loading' }
  return { kind: kind === 'failed' ? 'failed' : 'expired', failure }
}

/** Whether a code fetched at `at` (epoch ms) has expired; a timer updates it. */
function useExpired(at: number): boolean {
  const [expiredAt, setExpiredAt] = useState(0)
  useEffect(() => {
    const timer = setTimeout(() => setExpiredAt(at), Math.max(0, at + MAX_AGE_MS - Date.now()))
    return () => clearTimeout(timer)
  }, [at])
  return expiredAt === at
}
