import type { Schemas } from '@/shared/api/model'
import type { Faults } from '@/shared/lib/form/validate'
import { rupiah, wholeMinutes } from '@/shared/lib/text/format'
import type { MachineKind, PriceRule, Service } from '@/till/api/shop-calls'
import { formSlot } from './kept-form'
import { layanan } from './layanan-copy'
import { overlapOf, ruleText, sameRules } from './price-rules'

/** The server's limits (docs/contract.md §4). */
export const MAX_PRICE = 20_000_000
const MAX_MINUTES = 24 * 60
const MAX_PULSES = 20

/** A service as it is typed. */
export interface ServiceForm {
  nama: string
  /** Digits. */
  harga: string
  menit: string
  /** Null: any machine. */
  jenis: MachineKind | null
  ukuran: string
  aturan: PriceRule[]
  /** Coin pulses, of machines that are started so. Digits. */
  pulsa: string
}

export type ServiceField = 'nama' | 'harga' | 'menit' | 'ukuran' | 'aturan' | 'pulsa'

const EMPTY: ServiceForm = { nama: '', harga: '', menit: '', jenis: null, ukuran: '', aturan: [], pulsa: '1' }

export function formOf(service: Service | null): ServiceForm {
  if (!service) return EMPTY
  const { nama, harga, durasi, jenis, ukuran, aturan, pulsa } = service
  return {
    nama,
    harga: String(harga),
    menit: String(wholeMinutes(durasi)),
    jenis,
    ukuran: ukuran ?? '',
    aturan,
    pulsa: String(pulsa),
  }
}

export function faultsOf({ nama, harga, menit, aturan, pulsa }: ServiceForm): Faults<ServiceField> {
  const minutes = Number(menit)
  const overlap = overlapOf(aturan)
  return {
    ...(nama.trim() === '' && { nama: layanan.nameMissing }),
    ...priceFault(harga),
    ...(!(minutes >= 1 && minutes <= MAX_MINUTES) && { menit: layanan.durationWrong }),
    ...(!(Number(pulsa) >= 1 && Number(pulsa) <= MAX_PULSES) && { pulsa: layanan.pulsesWrong }),
    ...(overlap && { aturan: layanan.overlap(ruleText(overlap[0]), ruleText(overlap[1])) }),
  }
}

/** The fault of a typed price. */
export function priceFault(harga: string): { harga?: string } {
  if (harga === '') return { harga: layanan.priceMissing }
  return Number(harga) > MAX_PRICE ? { harga: layanan.priceTooHigh } : {}
}

/** What differs from the stored service; null when nothing does. */
export function changeOf(form: ServiceForm, service: Service): Schemas['LayananChange'] | null {
  const before = formOf(service)
  const ukuran = form.ukuran.trim()
  const change: Schemas['LayananChange'] = {
    ...(form.nama.trim() !== before.nama && { nama: form.nama.trim() }),
    ...(Number(form.harga) !== service.harga && { harga: Number(form.harga) }),
    // A duration may have seconds, which the form does not show: it stays as it is while its minutes do.
    ...(changesDuration(form, service) && { durasi: Number(form.menit) * 60 }),
    ...(form.jenis !== before.jenis && { jenis: form.jenis }),
    ...(ukuran !== before.ukuran && { ukuran: ukuran || null }),
    ...(!sameRules(form.aturan, before.aturan) && { aturan: form.aturan }),
    ...(form.pulsa !== before.pulsa && { pulsa: Number(form.pulsa) }),
  }
  return Object.keys(change).length > 0 ? change : null
}

export const changesDuration = ({ menit }: ServiceForm, service: Service): boolean =>
  menit !== '' && Number(menit) !== wholeMinutes(service.durasi)

export function newOf(form: ServiceForm, idoutlet: number): Schemas['NewLayanan'] {
  const { nama, harga, menit, jenis, ukuran, aturan, pulsa } = form
  return {
    idoutlet,
    nama: nama.trim(),
    harga: Number(harga),
    durasi: Number(menit) * 60,
    jenis,
    ukuran: ukuran.trim() || null,
    aturan,
    pulsa: Number(pulsa),
  }
}

/** What the button saves: the price, where that alone is new. */
export function saveLabel(form: ServiceForm, service: Service | null): string {
  const change = service && changeOf(form, service)
  const onlyPrice = change && Object.keys(change).join() === 'harga'
  return onlyPrice ? layanan.savePrice(rupiah(Number(form.harga))) : layanan.save
}

export const serviceDraft = formSlot<ServiceForm>('layanan', ({ aturan }) => Array.isArray(aturan))
