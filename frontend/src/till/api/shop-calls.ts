// The calls of the management, apart from those that every till loads.
import { asApiError } from '@/shared/api/error'
import type { Schemas } from '@/shared/api/model'
import type { MoneyRequest } from '@/till/api/calls'
import { ops } from '@/till/api/client'
import type { Package, Rows } from '@/till/api/types'

/** Where a page of a list continues. */
type Before = string | number | null

/** Whole rupiah, seconds. `harga` where no rule of `aturan` holds. */
export type Service = Schemas['LayananOutlet']
export type MachineKind = Schemas['JenisMesin']
/** A price from `dari` until before `sampai` on the outlet's wall clock; `hari` 1 is Monday. */
export type PriceRule = Schemas['Aturan']

export const shopKeys = {
  services: (idoutlet: number) => ['services', idoutlet],
  readiness: (idoutlet: number) => ['readiness', idoutlet],
  machines: (idoutlet: number) => ['machines', idoutlet],
  packages: ['packages-all'],
  staff: ['staff'],
  tills: ['tills'],
  apiKeys: ['api-keys'],
  audit: (filter: AuditFilter) => ['audit', filter],
  customer: (id: number) => ['customer', id],
  customerMoves: (id: number) => ['customer', id, 'moves'],
}

export const getServices = (idoutlet: number, signal?: AbortSignal) =>
  ops<Service[]>('GET', `layanan?idoutlet=${idoutlet}`, { signal })
export const addService = (key: string, body: Schemas['NewLayanan']) =>
  ops<Schemas['LayananMade']>('POST', 'layanan', { key, body })
export const changeService = (id: number, body: Schemas['LayananChange']) =>
  ops<Schemas['LayananChanged']>('POST', `layanan/${id}`, { body })

export const addOutlet = (key: string, body: Schemas['NewOutlet']) =>
  ops<Schemas['OutletMade']>('POST', 'outlet', { key, body })
/** What an outlet in preparation still lacks. */
export type Readiness = Schemas['Kesiapan']
export const getReadiness = (id: number, signal?: AbortSignal) =>
  ops<Readiness>('GET', `outlet/${id}/siap`, { signal })
/** Keys for the outlet's devices that have none in use; told once. */
export const makeOutletKeys = (id: number) => ops<Schemas['KunciMesin']>('POST', `outlet/${id}/kunci_mesin`)
export const changeOutlet = (id: number, body: Schemas['OutletChange']) =>
  ops<null>('POST', `outlet/${id}`, { body })
export const closeOutlet = (id: number, body: Schemas['CloseOutlet']) =>
  ops<null>('POST', `outlet/${id}/tutup`, { body })
export const openOutlet = (id: number) => ops<null>('POST', `outlet/${id}/buka`, { body: {} })

/** The outlet's machines in their order, without retired ones. */
export const getMachines = async (idoutlet: number, signal?: AbortSignal) =>
  (await ops<Schemas['Papan']>('GET', `mesin?idoutlet=${idoutlet}`, { signal })).mesin
export const addMachine = (key: string, body: Schemas['NewMesin']) =>
  ops<Schemas['MesinMade']>('POST', 'mesin', { key, body })
export const addMachines = (key: string, body: Schemas['ManyMesin']) =>
  ops<Schemas['ManyMesinMade']>('POST', 'mesin/bulk', { key, body })
export const changeMachine = (id: number, body: Schemas['MesinChange']) =>
  ops<null>('POST', `mesin/${id}`, { body })
export const orderMachines = (idoutlet: number, mesin: number[]) =>
  ops<null>('POST', `outlet/${idoutlet}/urut`, { body: { mesin } satisfies Schemas['Urut'] })

/** What a machine's device logs in with: told once. The present key holds until the new one is used. */
export type DeviceLogin = Schemas['DeviceLogin']
export const makeDeviceKey = (id: number) => ops<DeviceLogin>('POST', `mesin/${id}/perangkat`)

export type Sticker = Schemas['StikerPng']
/** The most stickers that a call gives: a printed page. */
export const STICKERS_A_PAGE = 10
export const getStickers = (ids: readonly number[], signal?: AbortSignal) =>
  ops<Sticker[]>('GET', `stiker?id=${ids.join(',')}`, { signal })
export const renewalOf = (id: number, alasan: string): MoneyRequest<Schemas['Stiker']> => ({
  path: `mesin/${id}/stiker`,
  body: { alasan } satisfies Schemas['NewSticker'],
})

/** All packages of the outlets in sight, also those that are no longer sold. */
export const getAllPackages = (signal?: AbortSignal) => allRows<Package>('paket', signal)
export const addPackage = (body: Schemas['NewPaket']) => ops<Schemas['PaketMade']>('POST', 'paket', { body })
export const changePackage = (id: number, body: Schemas['PaketChange']) =>
  ops<null>('POST', `paket/${id}`, { body })

/** The staff in sight whom the caller may hire and dismiss, dismissed ones too. */
export type StaffRow = Schemas['PetugasRow']
export const getStaff = (signal?: AbortSignal) => allRows<StaffRow>('petugas', signal)
export const hire = (body: { nama: string; role: 'kasir' | 'teknisi' | 'supervisor'; idoutlet: number }) =>
  ops<Schemas['PetugasHired']>('POST', 'petugas', { body })
/** Ends the PIN and all sessions, and gives a new first PIN. */
export const newFirstPin = (id: number) => ops<Schemas['PetugasHired']>('POST', `petugas/${id}/reset_pin`)
export const unlock = (id: number) => ops<null>('POST', `petugas/${id}/buka_kunci`)
export const dismiss = (id: number) => endOnce(ops<null>('POST', `petugas/${id}/cabut`))

export type TillRow = Schemas['PerangkatRow']
export type Invitation = Schemas['Invitation']
export const getTills = (signal?: AbortSignal) => allRows<TillRow>('perangkat', signal)
export const invite = (body: { nama: string } & ({ idoutlet: number } | { idpetugas: number })) =>
  ops<Invitation>('POST', 'perangkat', { body })
export const inviteAgain = (id: number) => ops<Invitation>('POST', `perangkat/${id}/pasang`)
export const revokeTill = (id: number) => endOnce(ops<null>('POST', `perangkat/${id}/cabut`))

export type ApiKeyRow = Schemas['KunciRow']
export const getApiKeys = (signal?: AbortSignal) => allRows<ApiKeyRow>('kunci', signal)
/** The secret is told once. */
export const addApiKey = (body: {
  nama: string
  role: 'kasir' | 'teknisi' | 'supervisor'
  idoutlet: number
}) => ops<Schemas['KunciMade']>('POST', 'kunci', { body })
export const revokeApiKey = (id: number) => endOnce(ops<null>('POST', `kunci/${id}/cabut`))

export type AuditRow = Schemas['AuditRow']
/** Null: any. */
export interface AuditFilter {
  idoutlet: number
  aksi: string | null
  objek: string | null
}
export function getAudit({ idoutlet, aksi, objek }: AuditFilter, before: Before, signal?: AbortSignal) {
  const query = new URLSearchParams({ idoutlet: String(idoutlet) })
  if (aksi) query.set('aksi', aksi)
  if (objek) query.set('objek', objek)
  if (before !== null) query.set('sebelum', String(before))
  return ops<Rows<AuditRow>>('GET', `audit?${query}`, { signal })
}

export type Customer = Schemas['Pelanggan']
export type CustomerMove = Schemas['Gerak']
export const getCustomer = (id: number, signal?: AbortSignal) =>
  ops<Customer>('GET', `pelanggan/${id}`, { signal })
export const getCustomerMoves = (id: number, before: Before, signal?: AbortSignal) =>
  ops<Rows<CustomerMove>>('GET', `pelanggan/${id}/riwayat${before === null ? '' : `?sebelum=${before}`}`, {
    signal,
  })

/** What has ended already, perhaps by an attempt whose answer was lost, is 404. */
const endOnce = (call: Promise<null>): Promise<null> =>
  call.catch((error: unknown) => {
    if (asApiError(error).status === 404) return null
    throw error
  })

/** The most rows that a page has. */
const PAGE = 100
/** More pages than a shop fills. */
const MAX_PAGES = 20

/** All rows of a short list, newest first. */
async function allRows<T>(path: string, signal?: AbortSignal): Promise<T[]> {
  const rows: T[] = []
  let after = ''
  for (let page = 0; page < MAX_PAGES; page++) {
    const { baris, lanjut } = await ops<Rows<T>>('GET', `${path}?limit=${PAGE}${after}`, { signal })
    rows.push(...baris)
    if (lanjut === null) break
    after = `&sebelum=${lanjut}`
  }
  return rows
}
