// The calls of the management, apart from those that every till loads.
import type { Schemas } from '@/shared/api/model'
import { ops } from '@/till/api/client'

/** Whole rupiah, seconds. `harga` where no rule of `aturan` holds. */
export type Service = Schemas['LayananOutlet']
export type MachineKind = Schemas['JenisMesin']
/** A price from `dari` until before `sampai` on the outlet's wall clock; `hari` 1 is Monday. */
export type PriceRule = Schemas['Aturan']
export type ShopOutlet = Schemas['OutletRow']

export const shopKeys = {
  services: (idoutlet: number) => ['services', idoutlet],
  outlets: ['outlets'],
}

export const getServices = (idoutlet: number, signal?: AbortSignal) =>
  ops<Service[]>('GET', `layanan?idoutlet=${idoutlet}`, { signal })
export const addService = (key: string, body: Schemas['NewLayanan']) =>
  ops<Schemas['LayananMade']>('POST', 'layanan', { key, body })
export const changeService = (id: number, body: Schemas['LayananChange']) =>
  ops<Schemas['LayananChanged']>('POST', `layanan/${id}`, { body })

export const getOutlets = (signal?: AbortSignal) => ops<ShopOutlet[]>('GET', 'outlet', { signal })
export const changeOutlet = (id: number, body: Schemas['OutletChange']) =>
  ops<null>('POST', `outlet/${id}`, { body })
export const closeOutlet = (id: number, body: Schemas['CloseOutlet']) =>
  ops<null>('POST', `outlet/${id}/tutup`, { body })
export const openOutlet = (id: number) => ops<null>('POST', `outlet/${id}/buka`, { body: {} })
