import { useQuery } from '@tanstack/react-query'
import { useEffect, useEffectEvent, useRef, useState } from 'react'
import { type Asked, asked, type Failure } from '@/shared/api/asked'
import { dashboardQuery, epayQuery } from '@/shared/api/dashboard'
import { keptHome as kept } from '@/shared/api/kept-home'
import type { AkunEpay, Dashboard } from '@/shared/api/model'
import { isWaiting, unfinished } from '@/shared/lib/session/purchases'

/** While a purchase waits for its machine, the dashboard is refetched this often. */
const WAITING_POLL_MS = 5_000

interface Home {
  dashboard: Asked<Dashboard>
  epay: Asked<AkunEpay[]>
  /** The failure of either query; a retry refetches both. */
  failure: Failure | null
  /** Fetch time of the older of the two, epoch ms. */
  age_ms: number
}

export function useDashboard(): Home {
  const [seen] = useState(kept.load)
  // Stored data is shown at once, but always refetched.
  const start = <T>(initialData: T | undefined) =>
    initialData === undefined ? {} : { initialData, initialDataUpdatedAt: 0 }

  const dashboard = useQuery({
    ...dashboardQuery(),
    // A customer who comes back, e.g. from the cashier, wants current data.
    refetchOnMount: 'always',
    refetchOnReconnect: 'always',
    refetchInterval: (query) => refetchAfter_ms(query.state.data),
    ...start(seen?.data.dashboard),
  })
  const epay = useQuery({
    ...epayQuery(),
    refetchOnMount: 'always',
    refetchOnReconnect: 'always',
    ...start(seen?.data.epay),
  })

  const waiting = unfinished(dashboard.data).filter(isWaiting)
  useDecided(waiting.map(({ id }) => id).join(), () => void epay.refetch())

  const fetched_ms = Math.min(dashboard.dataUpdatedAt, epay.dataUpdatedAt)
  useKeep(dashboard.data, epay.data, fetched_ms)
  const error = dashboard.error ?? epay.error
  return {
    dashboard: asked(dashboard, dashboard.data),
    epay: asked(epay, epay.data),
    failure: error && {
      error,
      pending: dashboard.isFetching || epay.isFetching,
      onRetry: () => void Promise.all([dashboard.refetch(), epay.refetch()]),
    },
    age_ms: fetched_ms || seen?.at || Date.now(),
  }
}

/** Milliseconds until the dashboard is refetched, for a machine that has not answered or has its coins and may not run yet. */
function refetchAfter_ms(dashboard: Dashboard | undefined): number | false {
  const open = unfinished(dashboard)
  const looks_ms = open.flatMap(({ tanya_lagi_at, server_time }) =>
    tanya_lagi_at ? [Math.max(tanya_lagi_at - server_time, WAITING_POLL_MS)] : [],
  )
  const soonest_ms = Math.min(...looks_ms, open.some(isWaiting) ? WAITING_POLL_MS : Number.POSITIVE_INFINITY)
  return Number.isFinite(soonest_ms) && soonest_ms
}

/** A purchase that no longer waits has spent its hold or got it back: only the balances show which. */
function useDecided(waiting: string, onDecided: () => void): void {
  const before = useRef(waiting)
  const decided = useEffectEvent(onDecided)
  useEffect(() => {
    const waited = before.current !== '' && before.current !== waiting
    before.current = waiting
    if (waited) decided()
  }, [waiting])
}

function useKeep(dashboard: Dashboard | undefined, epay: AkunEpay[] | undefined, at: number): void {
  useEffect(() => {
    if (dashboard && epay && at > 0) kept.save({ dashboard, epay }, at)
  }, [dashboard, epay, at])
}
