import { describe, expect, it } from 'vitest'
import type { Attention, Tile } from '@/till/api/types'
import {
  type Board,
  type Change,
  changed,
  isChange,
  isLive,
  isSnapshot,
  restored,
  type Snapshot,
} from './board-state'

const tile = (id: number, more: Partial<Tile> = {}): Tile => ({
  id,
  nama: `Cuci ${id}`,
  jenis: 'cuci',
  ukuran: null,
  keadaan: 'siap',
  sejak: null,
  ends_at: null,
  idtransaksi: null,
  layanan: null,
  jumlah: null,
  kembali_at: null,
  ditutup: null,
  aksi: ['tutup'],
  ...more,
})

const entry: Attention = {
  jenis: 'offline',
  tingkat: 'abu',
  idoutlet: 5,
  outlet: 'Laundry Melati',
  idmesin: 2,
  idshift: null,
  nama: 'Cuci 2',
  sejak: '2026-11-26T07:00:00.000Z',
  idtransaksi: null,
  jumlah: null,
  kembali_at: null,
  ditangani: null,
}

const snapshot = (more: Partial<Snapshot> = {}): Snapshot => ({
  status: 200,
  versi: 7,
  server_time: 1_000,
  outlet: { idoutlet: 5, nama: 'Laundry Melati', zona: 'Asia/Jakarta', tutup: null },
  mesin: [tile(1), tile(2), tile(3)],
  perhatian: [],
  ...more,
})

const change = (versi: number, more: Partial<Change> = {}): Change => ({ versi, server_time: 2_000, ...more })
const ids = ({ tiles }: Board) => tiles.map(({ id }) => id)
const start = () => restored(null, snapshot())

describe('a change with the next number', () => {
  it('replaces its tiles in their places and leaves the others the same objects', () => {
    const before = start()
    const after = changed(before, change(8, { mesin: [tile(2, { keadaan: 'jalan' })] }))
    expect(after).toMatchObject({ versi: 8, complete: true })
    expect(ids(after)).toEqual([1, 2, 3])
    expect(after.tiles[1]?.keadaan).toBe('jalan')
    expect(after.tiles[0]).toBe(before.tiles[0])
    expect(after.tiles[2]).toBe(before.tiles[2])
    expect(after.attention).toBe(before.attention)
  })

  it('removes retired machines', () => {
    expect(ids(changed(start(), change(8, { hilang: [2] })))).toEqual([1, 3])
  })

  it('gives another order where all machines come', () => {
    const before = start()
    const after = changed(before, change(8, { mesin: [tile(3), tile(1), tile(2)] }))
    expect(ids(after)).toEqual([3, 1, 2])
    expect(after.tiles[0]).toBe(before.tiles[2])
    expect(after.complete).toBe(true)
  })

  it('shows a new machine at the end, and asks for its place', () => {
    const after = changed(start(), change(8, { mesin: [tile(9)] }))
    expect(ids(after)).toEqual([1, 2, 3, 9])
    expect(after.complete).toBe(false)
  })

  it('replaces what needs a person as a whole, and the outlet', () => {
    const tutup = { alasan: 'Banjir', sejak: '2026-11-26T07:00:00.000Z', sampai: null }
    const outlet = { ...snapshot().outlet, tutup }
    const after = changed(start(), change(8, { perhatian: [entry], outlet }))
    expect(after.attention).toEqual([entry])
    expect(after.outlet.tutup).toEqual(tutup)
    expect(changed(after, change(9, { perhatian: [] })).attention).toEqual([])
  })
})

describe('numbers', () => {
  it.each([
    ['a bare one of the same number changes nothing', change(7), true],
    ['a repeated change changes nothing', change(7, { mesin: [tile(1, { keadaan: 'jalan' })] }), true],
    ['a change after a gap', change(9, { mesin: [tile(1)] }), false],
    ['a bare one that is ahead: the change before it is missing', change(8), false],
    ['a lower one: another server counts', change(3, { mesin: [tile(1)] }), false],
    ['a lower bare one', change(3), false],
  ])('%s', (_, message, complete) => {
    const before = start()
    const after = changed(before, message)
    expect(after.complete).toBe(complete)
    expect(after.tiles).toBe(before.tiles)
    expect(after.versi).toBe(7)
  })

  it('after a gap nothing is taken until a snapshot comes', () => {
    const gap = changed(start(), change(9))
    expect(changed(gap, change(8, { mesin: [tile(1, { keadaan: 'jalan' })] }))).toBe(gap)
    const after = restored(
      gap,
      snapshot({ versi: 9, mesin: [tile(1, { keadaan: 'jalan' }), tile(2), tile(3)] }),
    )
    expect(after).toMatchObject({ versi: 9, complete: true })
    expect(after.tiles[0]?.keadaan).toBe('jalan')
    expect(after.tiles[1]).toBe(gap.tiles[1])
  })

  it('a snapshot that says the same keeps everything the same object', () => {
    const before = start()
    const after = restored(before, snapshot({ versi: 1 }))
    expect(after.tiles).toBe(before.tiles)
    expect(after.attention).toBe(before.attention)
    expect(after.outlet).toBe(before.outlet)
  })

  it('a snapshot of another order takes that order', () => {
    expect(ids(restored(start(), snapshot({ mesin: [tile(2), tile(1), tile(3)] })))).toEqual([2, 1, 3])
  })
})

it('recognises its messages', () => {
  expect(isSnapshot(snapshot())).toBe(true)
  for (const odd of [
    null,
    'ok',
    [],
    { status: 404, message: 'outlet tidak ditemukan' },
    { ...snapshot(), mesin: null },
  ])
    expect(isSnapshot(odd)).toBe(false)
  expect(isChange(change(1))).toBe(true)
  for (const odd of [null, 7, { versi: 1 }, { versi: '1', server_time: 2 }]) expect(isChange(odd)).toBe(false)
})

it.each([
  ['nothing was heard yet', null, false],
  ['just heard', 100_000, true],
  ['29.999 s ago', 70_001, true],
  ['30 s ago', 70_000, false],
  ['the clock was set back', 100_001, false],
])('is live: %s', (_, heard_ms, live) => {
  expect(isLive(heard_ms, 100_000)).toBe(live)
})
