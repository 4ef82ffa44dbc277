import { api, call } from '@/shared/api/client'
import type { Nothing, Schemas } from '@/shared/api/model'

export type Kind = Schemas['JenisMesin']
/**
 * `idle`: free, and its device was heard; `diam`: free as far as is known; `busy`: in use; `offline`: takes no purchase. A newer server
 * may have other states.
 */
export type FreeMachine = Schemas['MesinPapan']
export type OutletMachines = Schemas['PapanUmum']
export type PublicOutlet = Schemas['OutletUmum']
/** The customer's place among those who wait for a machine. */
export type MyCall = Schemas['Panggilan']

export const outletKeys = {
  mine: ['outlet'],
  machines: (id: number) => ['outlet', id, 'mesin'],
  call: ['panggil'],
}

export const getOutlets = (signal?: AbortSignal) =>
  call((init) => api.GET('/scan/v1/outlet', init), { signal })
/** An outlet where the customer has an account. */
export type MyOutlet = Awaited<ReturnType<typeof getOutlets>>[number]
export const getMachines = (id: number, signal?: AbortSignal): Promise<OutletMachines> =>
  call((init) => api.GET('/scan/v1/outlet/{id}/mesin', { ...init, params: { path: { id } } }), { signal })
export const getCall = (signal?: AbortSignal): Promise<MyCall | null> =>
  call((init) => api.GET('/scan/v1/panggil', init), { signal })
/** The same again gets the same call. */
export const callMe = (id: number, jenis: Kind): Promise<MyCall> =>
  call((init) =>
    api.POST('/scan/v1/outlet/{id}/panggil', { ...init, params: { path: { id } }, body: { jenis } }),
  )
export const stopCall = (): Promise<Nothing> => call((init) => api.POST('/scan/v1/panggil/berhenti', init))
