import { api, call } from '@/shared/api/client'

export type Kind = 'cuci' | 'kering' | 'lain'

/** Why nothing can be bought at an outlet, and until when if that is known. */
export interface Closed {
  alasan: string
  sampai: string | null
}

export interface PublicOutlet {
  idoutlet: number
  nama: string
  kota: string
  alamat: string
  tutup: Closed | null
}

/** An outlet where the customer has an account. */
export interface MyOutlet extends PublicOutlet {
  jenis: { jenis: Kind; siap: number; jalan: number; berikutnya_at: string | null }[]
}

/**
 * `idle`: free, and its device was heard; `diam`: free as far as is known; `busy`: in use; `offline`: takes no purchase. A newer server
 * may have other states.
 */
export interface FreeMachine {
  id: number
  nama: string
  jenis: Kind
  status: string
  ends_at: number | null
  /** Until when the next of those who wait has a head start. */
  dipanggil_sampai: string | null
}

export interface OutletMachines {
  outlet: PublicOutlet
  server_time: number
  mesin: FreeMachine[]
}

/** The customer's place among those who wait for a machine. */
export interface MyCall {
  id: number
  idoutlet: number
  jenis: Kind
  urutan: number
  sampai: string
  dipanggil: { idmesin: number; mesin: string; sampai: string } | null
}

// The OpenAPI file does not describe these calls yet.
const get = <T>(path: string, signal?: AbortSignal) =>
  call<T>((init) => api.GET(path as never, init as never) as never, { signal })
const post = <T>(path: string, body?: object) =>
  call<T>((init) => api.POST(path as never, { ...init, ...(body && { body }) } as never) as never)

export const outletKeys = {
  mine: ['outlet'],
  machines: (id: number) => ['outlet', id, 'mesin'],
  call: ['panggil'],
}

export const getOutlets = (signal?: AbortSignal) => get<MyOutlet[]>('/scan/v1/outlet', signal)
export const getMachines = (id: number, signal?: AbortSignal) =>
  get<OutletMachines>(`/scan/v1/outlet/${id}/mesin`, signal)
export const getCall = (signal?: AbortSignal) => get<MyCall | null>('/scan/v1/panggil', signal)
/** The same again gets the same call. */
export const callMe = (id: number, jenis: Kind) => post<MyCall>(`/scan/v1/outlet/${id}/panggil`, { jenis })
export const stopCall = () => post<null>('/scan/v1/panggil/berhenti')
