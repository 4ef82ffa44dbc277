import { dashboardPaths } from '@/shared/api/ahead'
import { api, call } from '@/shared/api/client'
import type { Account, AkunEpay, Dashboard } from '@/shared/api/model'

export function getDashboard(signal?: AbortSignal): Promise<Dashboard> {
  return call((init) => api.GET(dashboardPaths.dashboard, init), { signal })
}

export function getEpay(signal?: AbortSignal): Promise<AkunEpay[]> {
  return call((init) => api.GET(dashboardPaths.epay, init), { signal })
}

export function getCustomerGlobal(id: number, signal?: AbortSignal): Promise<Account> {
  const params = { path: { id_customer_global: id } }
  return call(
    (init) => api.GET('/scan/v1/dashboard/customer_global/{id_customer_global}', { ...init, params }),
    { signal },
  )
}
