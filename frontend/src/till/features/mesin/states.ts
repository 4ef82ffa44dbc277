import type { Attention, Tile } from '@/till/api/types'

export const KINDS = ['cuci', 'kering', 'lain'] as const
const KIND_NAMES: Record<string, string> = { cuci: 'Mesin cuci', kering: 'Pengering', lain: 'Lainnya' }
export const kindName = (jenis: string): string => KIND_NAMES[jenis] ?? 'Lainnya'

/** The chips above the grid; key 1 is the first one. */
export const CHIPS = ['semua', 'siap', 'jalan', 'perhatian', 'ditutup'] as const
export type Chip = (typeof CHIPS)[number]
export const CHIP_NAMES: Record<Chip, string> = {
  semua: 'Semua',
  siap: 'Siap',
  jalan: 'Jalan',
  perhatian: 'Perhatian',
  ditutup: 'Ditutup',
}

/** The machines with an entry that needs a person. */
export const concernedOf = (attention: readonly Attention[]): ReadonlySet<number> =>
  new Set(attention.flatMap(({ idmesin }) => (idmesin === null ? [] : [idmesin])))

export function isIn(chip: Chip, { id, keadaan }: Tile, concerned: ReadonlySet<number>): boolean {
  switch (chip) {
    case 'semua':
      return true
    case 'siap':
      return keadaan === 'siap'
    case 'jalan':
      return keadaan === 'jalan' || keadaan === 'menunggu'
    case 'ditutup':
      return keadaan === 'ditutup'
    case 'perhatian':
      return concerned.has(id) || !['siap', 'jalan', 'menunggu', 'ditutup'].includes(keadaan)
  }
}

export interface Group {
  kind: string
  tiles: Tile[]
}

/** The tiles by kind, each kind in the order in which the tiles come. */
export function groupsOf(tiles: readonly Tile[]): Group[] {
  return KINDS.map((kind) => ({ kind, tiles: tiles.filter(({ jenis }) => jenis === kind) })).filter(
    ({ tiles }) => tiles.length > 0,
  )
}

/** The length of the words that all names of a group begin with: a small tile leaves them out. */
export function sharedStart(names: readonly string[]): number {
  const [first = '', ...others] = names
  if (others.length === 0) return 0
  let length = 0
  while (length < first.length && others.every((name) => name[length] === first[length])) length++
  const start = first.slice(0, length).lastIndexOf(' ') + 1
  return names.every((name) => name.length > start) ? start : 0
}
