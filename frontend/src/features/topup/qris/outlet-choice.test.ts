import { describe, expect, it } from 'vitest'
import type { AkunEpay, QrisOutlet } from '@/shared/api/model'
import { givenOutlet, isLong, ownFirst, shownOutlets } from './outlet-choice'

const outlets: QrisOutlet[] = Array.from({ length: 9 }, (_, i) => ({
  idoutlet: i + 1,
  nama: `Laundry ${'ABCDEFGHI'[i]}`,
  kota: i === 8 ? 'Medan' : 'Bandung',
  nominal: [20_000],
  paket: [],
}))
const at = (...ids: number[]) => ids.map((idoutlet) => ({ outlet: { idoutlet } }) as AkunEpay)
const ids = (list: QrisOutlet[]) => list.map(({ idoutlet }) => idoutlet)

describe('the outlets of a QRIS payment', () => {
  it('begin with those where the customer has an account', () => {
    expect(ids(ownFirst(outlets, at(5, 3))).slice(0, 4)).toEqual([3, 5, 1, 2])
  })

  it('need no choice where there is one, or one account', () => {
    expect(givenOutlet(outlets.slice(0, 1), [])).toBe(1)
    expect(givenOutlet(outlets, at(5))).toBe(5)
    expect(givenOutlet(outlets, at(5, 3))).toBeNull()
    expect(givenOutlet(outlets, [])).toBeNull()
  })

  it('are searched by name and city when they are many, and the chosen one stays', () => {
    expect(isLong(outlets)).toBe(true)
    expect(isLong(outlets.slice(0, 6))).toBe(false)
    expect(ids(shownOutlets(outlets, '', null))).toEqual([1, 2, 3, 4, 5, 6])
    expect(ids(shownOutlets(outlets, ' medan', null))).toEqual([9])
    expect(ids(shownOutlets(outlets, 'laundry b', 7))).toEqual([7, 2])
    expect(ids(shownOutlets(outlets, 'x', null))).toEqual([])
  })
})
