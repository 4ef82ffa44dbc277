import type { Schemas } from '@/shared/api/model'
import type { Faults } from '@/shared/lib/form/validate'
import type { MachineKind } from '@/till/api/shop-calls'
import type { Tile } from '@/till/api/types'
import { formSlot } from '../kept-form'
import { mesin } from './mesin-copy'

/** More than a shop has; the server takes more. */
export const MAX_AT_ONCE = 200
/** The server's limits (docs/contract.md §4). */
const MAX_FIRST = 900_000
const MAX_DIGITS = 6
const MAX_SERVICE = 100_000
const MAX_PULSES = 20
/** All pulses of a start, in milliseconds. */
const MAX_PULSES_MS = 6_000
const MAX_COIN = 20_000_000
export const MAX_NAME = 100
export const MAX_PREFIX = 94

/** A machine, or several, as typed. Numbers are digits. */
export interface MachineForm {
  nama: string
  jumlah: string
  mulai: string
  angka: string
  /** Null: as the name says. */
  jenis: MachineKind | null
  ukuran: string
  servis: string
  cara: StartBy
  /** Coin pulses of each service; empty: as the service says. */
  pulsa: string
  /** Milliseconds of a pulse and of the gap after it. */
  lebar: string
  jeda: string
  /** Rupiah of a coin; empty: not known. */
  koin: string
}

/** What starts a machine. */
export type StartBy = Schemas['Cara']

export type MachineField = 'nama' | 'jumlah' | 'mulai' | 'angka' | 'ukuran' | 'servis' | PulseField
export type PulseField = 'pulsa' | 'lebar' | 'jeda' | 'koin'

const EMPTY: MachineForm = {
  nama: '',
  jumlah: '1',
  mulai: '1',
  angka: '2',
  jenis: null,
  ukuran: '',
  servis: '',
  cara: 'relai',
  pulsa: '',
  lebar: '50',
  jeda: '100',
  koin: '',
}

/** `details`: undefined where they are not known. */
export function formOf(machine: Tile | null, details?: Details): MachineForm {
  if (!machine) return EMPTY
  const { nama, jenis, ukuran } = machine
  const form = { ...EMPTY, nama, jenis, ukuran: ukuran ?? '' }
  if (!details) return form
  const { siklus, menyala, nilai_koin } = details
  const { cara, pulsa, lebar_ms, jeda_ms } = menyala
  const servis = siklus.servis_tiap ? String(siklus.servis_tiap) : ''
  return {
    ...form,
    servis,
    cara,
    pulsa: pulsa ? String(pulsa) : '',
    lebar: String(lebar_ms),
    jeda: String(jeda_ms),
    koin: nilai_koin ? String(nilai_koin) : '',
  }
}

type Details = Pick<Schemas['Rincian'], 'siklus' | 'menyala' | 'nilai_koin'>

/** The server's rule for a machine whose kind is left out. */
export const kindOf = ({ jenis, nama }: MachineForm): MachineKind =>
  jenis ?? (nama.toLowerCase().includes('ering') ? 'kering' : 'cuci')

export const isMany = ({ jumlah }: MachineForm): boolean => Number(jumlah) > 1

const within = (digits: string, most: number) => Number(digits) >= 1 && Number(digits) <= most

export function faultsOf(form: MachineForm): Faults<MachineField> {
  const { nama, jumlah, mulai, angka, servis, cara } = form
  const many = isMany(form)
  return {
    ...(!within(jumlah, MAX_AT_ONCE) && { jumlah: mesin.countWrong(MAX_AT_ONCE) }),
    ...(nama.trim() === '' && { nama: mesin.nameMissing }),
    ...(many && !within(mulai, MAX_FIRST) && { mulai: mesin.firstWrong }),
    ...(many && !within(angka, MAX_DIGITS) && { angka: mesin.digitsWrong }),
    ...(servis !== '' && !within(servis, MAX_SERVICE) && { servis: mesin.serviceWrong }),
    ...(cara === 'pulsa' && pulseFaults(form)),
  }
}

function pulseFaults({ pulsa, lebar, jeda, koin }: MachineForm): Faults<PulseField> {
  const faults = {
    ...(pulsa !== '' && !within(pulsa, MAX_PULSES) && { pulsa: mesin.pulsesWrong }),
    ...(!within(lebar, MAX_PULSES_MS - 1) && { lebar: mesin.widthWrong }),
    ...(!within(jeda, MAX_PULSES_MS - 1) && { jeda: mesin.widthWrong }),
    ...(Number(koin) > MAX_COIN && { koin: mesin.coinWrong }),
  }
  if (Object.keys(faults).length > 0) return faults
  const together = Number(pulsa || 1) * (Number(lebar) + Number(jeda))
  return together > MAX_PULSES_MS ? { lebar: mesin.pulsesTooLong } : {}
}

/** The name of a numbered machine, as the server makes it. */
export function numbered(prefix: string, digits: number, number: number): string {
  const gap = /[\p{L}\p{N}]$/u.test(prefix) ? ' ' : ''
  return `${prefix}${gap}${String(number).padStart(digits, '0')}`
}

/** The first and the last name of several machines; null while they cannot be made. */
export function namesOf(form: MachineForm): [string, string] | null {
  if (!isMany(form) || Object.keys(faultsOf(form)).length > 0) return null
  const [prefix, first, digits] = [form.nama.trim(), Number(form.mulai), Number(form.angka)]
  return [numbered(prefix, digits, first), numbered(prefix, digits, first + Number(form.jumlah) - 1)]
}

const common = (form: MachineForm, idoutlet: number) => ({
  idoutlet,
  // What stands in a shop is a device. Simulated machines are made by the operator of the server.
  driver: 'mqtt' as const,
  jenis: kindOf(form),
  ukuran: form.ukuran.trim() || null,
})

export const newOf = (form: MachineForm, idoutlet: number): Schemas['NewMesin'] => ({
  ...common(form, idoutlet),
  nama: form.nama.trim(),
  ...startOf(form, EMPTY),
})

/** What differs in the way of starting. */
function startOf({ cara, pulsa, lebar, jeda, koin }: MachineForm, before: MachineForm) {
  return {
    ...(cara !== before.cara && { cara }),
    ...(cara === 'pulsa' && {
      ...(pulsa !== before.pulsa && { pulsa: pulsa === '' ? null : Number(pulsa) }),
      ...(lebar !== before.lebar && { lebar_ms: Number(lebar) }),
      ...(jeda !== before.jeda && { jeda_ms: Number(jeda) }),
      ...(koin !== before.koin && { nilai_koin: Number(koin) }),
    }),
  }
}

export const manyOf = (form: MachineForm, idoutlet: number): Schemas['ManyMesin'] => ({
  ...common(form, idoutlet),
  jumlah: Number(form.jumlah),
  awalan: form.nama.trim(),
  mulai: Number(form.mulai),
  angka: Number(form.angka),
})

/** What differs from the stored machine. */
export function changeOf(form: MachineForm, before: MachineForm): Schemas['MesinChange'] {
  const ukuran = form.ukuran.trim()
  return {
    ...(form.nama.trim() !== before.nama && { nama: form.nama.trim() }),
    ...(form.jenis !== before.jenis && { jenis: form.jenis }),
    ...(ukuran !== before.ukuran && { ukuran: ukuran || null }),
    ...(form.servis !== before.servis && { servis_tiap: form.servis === '' ? null : Number(form.servis) }),
    ...startOf(form, before),
  }
}

export const machineDraft = formSlot<MachineForm>('mesin', ({ nama }) => typeof nama === 'string')
