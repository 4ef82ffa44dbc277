import { queryOptions } from '@tanstack/react-query'
import { dashboardPaths } from '@/shared/api/ahead'
import { api, call } from '@/shared/api/client'
import type { Account, AkunEpay, Dashboard } from '@/shared/api/model'
import { ofOwnAccount } from '@/shared/api/own-account'

export function getDashboard(signal?: AbortSignal): Promise<Dashboard> {
  return call((init) => api.GET(dashboardPaths.dashboard, init), { signal })
}

export const dashboardQuery = () =>
  queryOptions({
    queryKey: ['dashboard'],
    queryFn: ({ signal }) => ofOwnAccount(getDashboard(signal)),
  })

export function getEpay(signal?: AbortSignal): Promise<AkunEpay[]> {
  return call((init) => api.GET(dashboardPaths.epay, init), { signal })
}

/** All E-Pay wallets of the customer. */
export const epayQuery = () => queryOptions({ queryKey: ['epay'], queryFn: ({ signal }) => getEpay(signal) })

function getCustomerGlobal(id: string, signal?: AbortSignal): Promise<Account> {
  const params = { path: { id_customer_global: Number(id) } }
  return call(
    (init) => api.GET('/scan/v1/dashboard/customer_global/{id_customer_global}', { ...init, params }),
    { signal },
  )
}

/** The customer's own profile; `id` as in the token. */
export const accountQuery = (id: string) =>
  queryOptions({
    queryKey: ['account', id],
    queryFn: ({ signal }) => ofOwnAccount(getCustomerGlobal(id, signal)),
  })
