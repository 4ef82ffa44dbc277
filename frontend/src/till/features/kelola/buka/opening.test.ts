import { describe, expect, it } from 'vitest'
import type { Service } from '@/till/api/shop-calls'
import type { Tile } from '@/till/api/types'
import { missing, namesOf, planOf } from './machine-plan'
import { firstChoices, newServices, nightPrice, PROPOSALS, unsold } from './proposals'
import { TOWNS } from './towns'

const machine = (nama: string, jenis: 'cuci' | 'kering', ukuran: string | null = null) =>
  ({ id: nama.length, nama, jenis, ukuran }) as Tile
const service = (jenis: 'cuci' | 'kering' | null, ukuran: string | null = null) =>
  ({ aktif: true, jenis, ukuran }) as Service

describe('the plan of machines', () => {
  it('has a kind for each that is sold, and for each that is there', () => {
    const plan = planOf(
      [service('kering'), service('cuci', '8 kg'), service(null)],
      [machine('A', 'cuci', '14 kg')],
    )
    expect(plan.map(({ jenis, ukuran, jumlah }) => [jenis, ukuran, jumlah])).toEqual([
      ['cuci', '8 kg', 0],
      ['cuci', '14 kg', 1],
      ['kering', null, 0],
    ])
    expect(planOf([], [])).toHaveLength(1)
  })

  it('numbers go on from one kind to the next and after what is there', () => {
    const plan = planOf([service('cuci', '8 kg'), service('cuci', '14 kg')], []).map((kind, i) => ({
      ...kind,
      jumlah: i === 0 ? 6 : 2,
    }))
    const batches = missing(plan, [])
    expect(batches.map(namesOf).map((names) => [names[0], names[names.length - 1]])).toEqual([
      ['Cuci 01', 'Cuci 06'],
      ['Cuci 07', 'Cuci 08'],
    ])
    const there = batches
      .slice(0, 1)
      .flatMap((one) => namesOf(one).map((name) => machine(name, 'cuci', '8 kg')))
    expect(missing(plan, there).map(namesOf)).toEqual([['Cuci 07', 'Cuci 08']])
  })
})

describe('the proposed services', () => {
  it('are sold once, with a price at night where it is wanted', () => {
    expect(unsold([{ nama: 'Cuci Kilat', aktif: true }])).toEqual([0, 2, 3, 4])
    const made = newServices(3, firstChoices(false), true, unsold([{ nama: 'Cuci Kilat', aktif: true }]))
    expect(made.map(({ nama }) => nama)).toEqual(['Cuci Reguler', 'Cuci Besar', 'Kering 30', 'Kering 45'])
    expect(made[0]).toMatchObject({ harga: 15_000, durasi: 2_700, aturan: [{ harga: 9_000 }] })
    expect(newServices(3, firstChoices(true), false, [0, 1])).toEqual([])
    expect(nightPrice(1_000)).toBe(1_000)
  })

  it('fit the machines that they are for', () => {
    expect(new Set(PROPOSALS.map(({ nama }) => nama)).size).toBe(PROPOSALS.length)
  })
})

it('each town lies in Indonesia, and the list is in order', () => {
  for (const { name, latitude, longitude } of TOWNS) {
    expect(latitude, name).toBeGreaterThan(-11.1)
    expect(latitude, name).toBeLessThan(6.1)
    expect(longitude, name).toBeGreaterThan(95)
    expect(longitude, name).toBeLessThan(141.1)
  }
  const names = TOWNS.map(({ name }) => name)
  expect(names).toEqual([...new Set(names)].sort())
})
