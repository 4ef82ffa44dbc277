import { useQuery } from '@tanstack/react-query'
import { useEffect, useState } from 'react'
import { asked, type Failure } from '@/shared/api/asked'
import { qrcodeQuery } from './calls'

/** A new code this often: each is good for five minutes, so the cashier never meets a dying one. */
const REFRESH_MS = 2 * 60_000
/** Older than this a code is not shown: the cashier would be refused (docs/contract.md §2: five minutes). */
const LIFE_MS = 5 * 60_000

type Code =
  | { kind: 'loading' }
  /** Base64. */
  | { kind: 'shown'; png: string }
  /** There was never one, or the last one is too old, and no new one comes. */
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

/** Whether a code fetched at `at` (epoch ms) is past its life; turns by itself. */
function useExpired(at: number): boolean {
  const [expiredAt, setExpiredAt] = useState(0)
  useEffect(() => {
    const timer = setTimeout(() => setExpiredAt(at), Math.max(0, at + LIFE_MS - Date.now()))
    return () => clearTimeout(timer)
  }, [at])
  return expiredAt === at
}
