import { useQuery } from '@tanstack/react-query'
import { useEffect, useState } from 'react'
import { getDashboard, getEpay } from '@/shared/api/dashboard'
import { keys } from '@/shared/api/keys'
import type { AkunEpay, Dashboard, SnapTransaksi } from '@/shared/api/model'
import { ofOwnAccount } from '@/shared/api/own-account'
import { offlineSnapshot } from '@/shared/lib/offline-snapshot'
import { isRecord } from '@/shared/lib/storage'

/** A card that waits for its machine asks again this often. */
const WAITING_POLL_MS = 5_000

const FINISHED = 4
const RUNNING = 3

/** What was last seen, so that a reload and a phone without network show something, with its age. */
const kept = offlineSnapshot(
  'beranda',
  (data): data is { dashboard: Dashboard; epay: AkunEpay[] } =>
    isRecord(data) && isRecord(data.dashboard) && Array.isArray(data.epay),
)

/** Purchases not finished; the server sends only those, the app filters all the same (docs/contract.md §2). */
export function unfinished(dashboard: Dashboard | undefined): SnapTransaksi[] {
  return (dashboard?.list_snap_transaksi ?? []).filter(
    ({ snap_transaksi_detail: [detail] }) => detail !== undefined && detail.status !== FINISHED,
  )
}

export const isWaiting = (purchase: SnapTransaksi): boolean =>
  (purchase.snap_transaksi_detail[0]?.status ?? 0) < RUNNING

export function useDashboard() {
  const [seen] = useState(kept.load)
  // Shown at once, but always asked for again.
  const start = <T>(initialData: T | undefined) =>
    initialData === undefined ? {} : { initialData, initialDataUpdatedAt: 0 }

  const dashboard = useQuery({
    queryKey: keys.dashboard,
    queryFn: ({ signal }) => ofOwnAccount(getDashboard(signal)),
    // Coming back, e.g. from the cashier, one wants to see what is true now.
    refetchOnMount: 'always',
    refetchInterval: (query) => (unfinished(query.state.data).some(isWaiting) ? WAITING_POLL_MS : false),
    ...start(seen?.data.dashboard),
  })
  const epay = useQuery({
    queryKey: keys.epay,
    queryFn: ({ signal }) => getEpay(signal),
    refetchOnMount: 'always',
    ...start(seen?.data.epay),
  })

  const fetched_ms = Math.min(dashboard.dataUpdatedAt, epay.dataUpdatedAt)
  useKeep(dashboard.data, epay.data, fetched_ms)
  return { dashboard, epay, age_ms: fetched_ms || seen?.at || Date.now() }
}

function useKeep(dashboard: Dashboard | undefined, epay: AkunEpay[] | undefined, at: number): void {
  useEffect(() => {
    if (dashboard && epay && at > 0) kept.save({ dashboard, epay }, at)
  }, [dashboard, epay, at])
}
