import type { Schemas } from '@/shared/api/model'
import type { Faults } from '@/shared/lib/form/validate'
import type { Package } from '@/till/api/types'
import { formSlot } from '../kept-form'
import { paket } from './paket-copy'

/** The server's limits (docs/contract.md §4). */
const MAX_AMOUNT = 20_000_000
const MAX_DAYS = 3_650

/** A package as it is typed. Numbers are digits. */
export interface PackageForm {
  nama: string
  harga: string
  quota: string
  hari: string
  /** The newest package when a new one was begun: the new one has a larger id. */
  newest: number
}

export type PackageField = 'nama' | 'harga' | 'quota' | 'hari'

export function formOf(one: Package | null, newest: number): PackageForm {
  if (!one) return { nama: '', harga: '', quota: '', hari: '', newest }
  const { nama, harga, quota, berlaku_hari } = one
  return {
    nama,
    harga: String(harga),
    quota: String(quota),
    hari: berlaku_hari ? String(berlaku_hari) : '',
    newest,
  }
}

export function faultsOf({ nama, harga, quota, hari }: PackageForm): Faults<PackageField> {
  return {
    ...(nama.trim() === '' && { nama: paket.nameMissing }),
    ...amountFault('harga', harga),
    ...amountFault('quota', quota),
    ...(hari !== '' && !(Number(hari) >= 1 && Number(hari) <= MAX_DAYS) && { hari: paket.daysWrong }),
  }
}

function amountFault(field: 'harga' | 'quota', digits: string): Faults<PackageField> {
  if (!(Number(digits) >= 1)) return { [field]: paket.amountMissing }
  return Number(digits) > MAX_AMOUNT ? { [field]: paket.amountTooHigh } : {}
}

const days = (hari: string) => (hari === '' ? null : Number(hari))

export const newOf = ({ nama, harga, quota, hari }: PackageForm, idoutlet: number): Schemas['NewPaket'] => ({
  idoutlet,
  nama: nama.trim(),
  harga: Number(harga),
  quota: Number(quota),
  berlaku_hari: days(hari),
})

/** What differs from the stored package. */
export const changeOf = (
  { nama, harga, quota, hari }: PackageForm,
  before: Package,
): Schemas['PaketChange'] => ({
  ...(nama.trim() !== before.nama && { nama: nama.trim() }),
  ...(Number(harga) !== before.harga && { harga: Number(harga) }),
  ...(Number(quota) !== before.quota && { quota: Number(quota) }),
  ...(days(hari) !== before.berlaku_hari && { berlaku_hari: days(hari) }),
})

/** The package that an unanswered attempt has added: this call has no key that would make a repeat harmless. */
export function addedBefore(packages: readonly Package[], body: Schemas['NewPaket'], newest: number) {
  return packages.find(
    ({ idpaket, idoutlet, nama, harga, quota }) =>
      idpaket > newest &&
      idoutlet === body.idoutlet &&
      nama === body.nama &&
      harga === body.harga &&
      quota === body.quota,
  )
}

export const packageDraft = formSlot<PackageForm>('paket', ({ newest }) => typeof newest === 'number')
