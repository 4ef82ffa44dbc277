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
}

export type MachineField = 'nama' | 'jumlah' | 'mulai' | 'angka' | 'ukuran' | 'servis'

const EMPTY: MachineForm = {
  nama: '',
  jumlah: '1',
  mulai: '1',
  angka: '2',
  jenis: null,
  ukuran: '',
  servis: '',
}

/** `service_every`: undefined where it is not known. */
export function formOf(machine: Tile | null, service_every?: number | null): MachineForm {
  if (!machine) return EMPTY
  const { nama, jenis, ukuran } = machine
  return { ...EMPTY, nama, jenis, ukuran: ukuran ?? '', servis: service_every ? String(service_every) : '' }
}

/** The server's rule for a machine whose kind is left out. */
export const kindOf = ({ jenis, nama }: MachineForm): MachineKind =>
  jenis ?? (nama.toLowerCase().includes('ering') ? 'kering' : 'cuci')

export const isMany = ({ jumlah }: MachineForm): boolean => Number(jumlah) > 1

const within = (digits: string, most: number) => Number(digits) >= 1 && Number(digits) <= most

export function faultsOf(form: MachineForm): Faults<MachineField> {
  const { nama, jumlah, mulai, angka, servis } = form
  const many = isMany(form)
  return {
    ...(!within(jumlah, MAX_AT_ONCE) && { jumlah: mesin.countWrong(MAX_AT_ONCE) }),
    ...(nama.trim() === '' && { nama: mesin.nameMissing }),
    ...(many && !within(mulai, MAX_FIRST) && { mulai: mesin.firstWrong }),
    ...(many && !within(angka, MAX_DIGITS) && { angka: mesin.digitsWrong }),
    ...(servis !== '' && !within(servis, MAX_SERVICE) && { servis: mesin.serviceWrong }),
  }
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
})

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
  }
}

export const machineDraft = formSlot<MachineForm>('mesin', ({ nama }) => typeof nama === 'string')
