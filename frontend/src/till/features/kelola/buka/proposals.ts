import type { Schemas } from '@/shared/api/model'
import type { MachineKind, Service } from '@/till/api/shop-calls'
import { MAX_PRICE } from '../service-form'

/** A service that a shop usually sells. */
export interface Proposal {
  nama: string
  minutes: number
  jenis: MachineKind
  ukuran: string | null
  /** Rupiah. */
  price: number
}

export const PROPOSALS: readonly Proposal[] = [
  { nama: 'Cuci Reguler', minutes: 45, jenis: 'cuci', ukuran: '8 kg', price: 15_000 },
  { nama: 'Cuci Kilat', minutes: 30, jenis: 'cuci', ukuran: '8 kg', price: 12_000 },
  { nama: 'Cuci Besar', minutes: 55, jenis: 'cuci', ukuran: '14 kg', price: 24_000 },
  { nama: 'Kering 30', minutes: 30, jenis: 'kering', ukuran: null, price: 10_000 },
  { nama: 'Kering 45', minutes: 45, jenis: 'kering', ukuran: null, price: 14_000 },
]

/** A proposal as it is chosen; `price` is digits. */
export interface Choice {
  chosen: boolean
  price: string
}

export const firstChoices = (hasServices: boolean): Choice[] =>
  PROPOSALS.map(({ price }) => ({ chosen: !hasServices, price: String(price) }))

/** The proposals that the outlet does not sell yet, with their place in `PROPOSALS`. */
export const unsold = (services: readonly Pick<Service, 'nama' | 'aktif'>[]): number[] =>
  PROPOSALS.flatMap(({ nama }, i) => (services.some((one) => one.aktif && one.nama === nama) ? [] : [i]))

export const isPrice = (digits: string): boolean => Number(digits) >= 1 && Number(digits) <= MAX_PRICE

/** Three fifths of the price, to whole thousands, and no less than one of them. */
export const nightPrice = (price: number): number => Math.max(1, Math.round((price * 0.6) / 1_000)) * 1_000

/** The calls that sell what is chosen. */
export function newServices(
  idoutlet: number,
  choices: readonly Choice[],
  night: boolean,
  places: readonly number[],
): Schemas['NewLayanan'][] {
  return places.flatMap((i) => {
    const [proposal, choice] = [PROPOSALS[i], choices[i]]
    if (!proposal || !choice?.chosen) return []
    const harga = Number(choice.price)
    const { nama, minutes, jenis, ukuran } = proposal
    const rule = { hari: [1, 2, 3, 4, 5], dari: '22:00', sampai: '06:00', harga: nightPrice(harga) }
    return [{ idoutlet, nama, durasi: minutes * 60, harga, jenis, ukuran, aturan: night ? [rule] : [] }]
  })
}
