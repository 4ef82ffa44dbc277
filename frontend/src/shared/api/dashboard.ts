import { call } from '@/shared/api/client'
import type { Akun, AkunEpay, Dashboard } from '@/shared/api/model'

export function getDashboard(signal?: AbortSignal): Promise<Dashboard> {
  return call('GET', '/v1/dashboard/get_dashboard', { signal })
}

export function getEpay(signal?: AbortSignal): Promise<AkunEpay[]> {
  return call('GET', '/v1/dashboard/get_user_epayment_by_id_customer_global', { signal })
}

export function getCustomerGlobal(id: string, signal?: AbortSignal): Promise<Akun> {
  return call('GET', `/v1/dashboard/customer_global/${encodeURIComponent(id)}`, { signal })
}
