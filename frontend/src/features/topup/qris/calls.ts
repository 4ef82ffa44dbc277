import { queryOptions } from '@tanstack/react-query'
import { api, call } from '@/shared/api/client'
import type { Bill, QrisOutlet } from '@/shared/api/model'
import { learn } from '@/shared/realtime/clock'

/** What the customer pays for: an amount, rupiah, or a package of the outlet. */
export type BillAmount = { nominal: number } | { idpaket: number }
export type BillChoice = { idoutlet: number } & BillAmount
/** `id`: a UUID of this phone. */
export type BillRequest = { id: string } & BillChoice

function getQrisOutlets(signal?: AbortSignal): Promise<QrisOutlet[]> {
  return call((init) => api.GET('/scan/v1/epayment/qris', init), { signal })
}

/** The outlets where this customer can pay by QRIS, with their amounts and packages. */
export const qrisQuery = () =>
  queryOptions({
    queryKey: ['qris'],
    queryFn: ({ signal }) => getQrisOutlets(signal),
    staleTime: 5 * 60_000,
  })

/** A bill, whose time left follows the server's clock. */
async function measured(ask: () => Promise<Bill>): Promise<Bill> {
  const sent_ms = Date.now()
  const bill = await ask()
  learn(sent_ms, bill.server_time, Date.now())
  return bill
}

/** The same `id` gets the same bill. */
export const createBill = (body: BillRequest): Promise<Bill> =>
  measured(() => call((init) => api.POST('/scan/v1/epayment/tagihan', { ...init, body }), { repeated: true }))

const getBill = (id: string, signal: AbortSignal): Promise<Bill> =>
  measured(() =>
    call((init) => api.GET('/scan/v1/epayment/tagihan/{id}', { ...init, params: { path: { id } } }), {
      signal,
    }),
  )

export const billQuery = (id: string) =>
  queryOptions({ queryKey: ['bill', id], queryFn: ({ signal }) => getBill(id, signal), staleTime: 1_000 })

/** Asks the provider first: a bill that was paid in the meantime is not cancelled. */
export const cancelBill = (id: string): Promise<Bill> =>
  measured(() =>
    call((init) => api.POST('/scan/v1/epayment/tagihan/{id}/batal', { ...init, params: { path: { id } } })),
  )
