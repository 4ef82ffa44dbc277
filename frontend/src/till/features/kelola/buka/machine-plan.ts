import type { Schemas } from '@/shared/api/model'
import { lastOf } from '@/shared/lib/text/last-of'
import type { MachineKind, Service } from '@/till/api/shop-calls'
import type { Tile } from '@/till/api/types'
import { numbered } from '../mesin/machine-form'
import { buka } from './buka-copy'

/** Machines of one kind and size: how many the shop is to have in all. */
export interface KindPlan {
  jenis: MachineKind
  ukuran: string | null
  awalan: string
  jumlah: number
}

const DIGITS = 2
export const MAX_OF_KIND = 99

const PREFIXES: Record<MachineKind, string> = { cuci: 'Cuci', kering: 'Pengering', lain: 'Mesin' }
const KINDS: readonly MachineKind[] = ['cuci', 'kering', 'lain']

type Kind = Pick<KindPlan, 'jenis' | 'ukuran'>
const isSame = (one: Kind, other: Kind) => one.jenis === other.jenis && one.ukuran === other.ukuran

export const kindTitle = ({ jenis, ukuran }: Kind): string =>
  [buka.machineKinds[jenis], ukuran].filter(Boolean).join(' ')

/** How many of a kind are there already. */
export const countOf = (machines: readonly Tile[], kind: Kind): number =>
  machines.filter((one) => isSame(one, kind)).length

/** A plan with what the services need, and what is there already. */
export function planOf(services: readonly Service[], machines: readonly Tile[]): KindPlan[] {
  const sold = services.flatMap(({ aktif, jenis, ukuran }) => (aktif && jenis ? [{ jenis, ukuran }] : []))
  const kinds: Kind[] = []
  for (const kind of [...sold, ...machines]) {
    if (!kinds.some((one) => isSame(one, kind))) kinds.push({ jenis: kind.jenis, ukuran: kind.ukuran })
  }
  if (kinds.length === 0) kinds.push({ jenis: 'cuci', ukuran: null })
  return kinds
    .sort((a, b) => KINDS.indexOf(a.jenis) - KINDS.indexOf(b.jenis))
    .map((kind) => ({ ...kind, awalan: PREFIXES[kind.jenis], jumlah: countOf(machines, kind) }))
}

/** The number at the end of a name that begins with this prefix. */
function numberOf(name: string, prefix: string): number {
  const rest = name.startsWith(prefix) ? name.slice(prefix.length).trim() : ''
  return /^\d{1,6}$/.test(rest) ? Number(rest) : 0
}

type Batch = Omit<Schemas['ManyMesin'], 'idoutlet' | 'driver'> & { mulai: number; jenis: MachineKind }

/**
 * The machines that a plan still lacks. Numbers of one prefix go on, also from one kind to the next. Sent again after a lost answer, a
 * plan adds only what is missing, because it counts all machines.
 */
export function missing(plan: readonly KindPlan[], machines: readonly Tile[]): Batch[] {
  const batches: Batch[] = []
  for (const kind of plan) {
    const prefix = kind.awalan.trim()
    const jumlah = kind.jumlah - countOf(machines, kind)
    if (jumlah <= 0) continue
    const before = lastOf(batches.filter((one) => one.awalan === prefix))
    const highest = Math.max(0, ...machines.map(({ nama }) => numberOf(nama, prefix)))
    const mulai = before ? before.mulai + before.jumlah : highest + 1
    batches.push({ jumlah, awalan: prefix, mulai, angka: DIGITS, jenis: kind.jenis, ukuran: kind.ukuran })
  }
  return batches
}

/** The names that a batch gives. */
export const namesOf = ({ awalan, mulai, jumlah }: Batch): string[] =>
  Array.from({ length: jumlah }, (_, i) => numbered(awalan, DIGITS, mulai + i))
