import { useQuery } from '@tanstack/react-query'
import { useEffect, useState } from 'react'
import { getDashboard, getEpay } from '@/shared/api/dashboard'
import { asApiError } from '@/shared/api/error'
import { keys } from '@/shared/api/keys'
import type { AkunEpay, Dashboard, SnapTransaksi } from '@/shared/api/model'
import { customerId, useAuth } from '@/shared/lib/auth-store'
import { isRecord, PRIVATE_PREFIX, slot } from '@/shared/lib/storage'

/** A card that waits for its machine asks again this often. */
const WAITING_POLL_MS = 5_000

const FINISHED = 4
const RUNNING = 3

/** What was last seen, so that a reload and a phone without network show something, with its age. */
interface Snapshot {
  id: string
  at: number
  dashboard: Dashboard
  epay: AkunEpay[]
}

const kept = slot<Snapshot>(
  'local',
  `${PRIVATE_PREFIX}beranda`,
  (value): value is Snapshot =>
    isRecord(value) &&
    typeof value.id === 'string' &&
    typeof value.at === 'number' &&
    isRecord(value.dashboard) &&
    Array.isArray(value.epay),
)

function readSnapshot(): Snapshot | null {
  const token = useAuth.getState().token
  const snapshot = kept.read()
  return token && snapshot?.id === customerId(token) ? snapshot : null
}

/** Purchases not finished; the server sends only those, the app filters all the same (contract §2). */
export function belumSelesai(dashboard: Dashboard | undefined): SnapTransaksi[] {
  return (dashboard?.list_snap_transaksi ?? []).filter(
    ({ snap_transaksi_detail: [detail] }) => detail !== undefined && detail.status !== FINISHED,
  )
}

export const menunggu = (purchase: SnapTransaksi): boolean =>
  (purchase.snap_transaksi_detail[0]?.status ?? 0) < RUNNING

/** One's own account is gone: that is the end of the session, as a 401 is (product.md §8). */
async function getOwnDashboard(signal: AbortSignal): Promise<Dashboard> {
  try {
    return await getDashboard(signal)
  } catch (error) {
    if (asApiError(error).status === 404) useAuth.getState().expire()
    throw error
  }
}

export function useDashboard() {
  const [snapshot] = useState(readSnapshot)
  // Shown at once, but always asked for again.
  const start = <T>(initialData: T | undefined) =>
    initialData === undefined ? {} : { initialData, initialDataUpdatedAt: 0 }

  const dashboard = useQuery({
    queryKey: keys.dashboard,
    queryFn: ({ signal }) => getOwnDashboard(signal),
    // Coming back, e.g. from the cashier, one wants to see what is true now.
    refetchOnMount: 'always',
    refetchInterval: (query) => (belumSelesai(query.state.data).some(menunggu) ? WAITING_POLL_MS : false),
    ...start(snapshot?.dashboard),
  })
  const epay = useQuery({
    queryKey: keys.epay,
    queryFn: ({ signal }) => getEpay(signal),
    refetchOnMount: 'always',
    ...start(snapshot?.epay),
  })

  const fetched_ms = Math.min(dashboard.dataUpdatedAt, epay.dataUpdatedAt)
  useKeep(dashboard.data, epay.data, fetched_ms)
  return { dashboard, epay, age_ms: fetched_ms || snapshot?.at || Date.now() }
}

function useKeep(dashboard: Dashboard | undefined, epay: AkunEpay[] | undefined, at: number): void {
  useEffect(() => {
    const { token } = useAuth.getState()
    const id = token && customerId(token)
    if (id && dashboard && epay && at > 0) kept.write({ id, at, dashboard, epay })
  }, [dashboard, epay, at])
}
