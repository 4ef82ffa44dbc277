import { describe, expect, it } from 'vitest'
import {
  COINS,
  type Count,
  counted,
  EMPTY,
  many,
  mostOf,
  nextPiece,
  PIECES,
  put,
  step,
  total,
  worth,
} from './cash-count'

/** The drawer of the design. */
const DRAWER: Count = {
  '100000': 9,
  '50000': 14,
  '20000': 11,
  '10000': 16,
  '5000': 7,
  '2000': 12,
  '1000': 3,
  [COINS]: 1_500,
}

describe('a count', () => {
  it('is the sum of its rows', () => {
    expect(PIECES.map((piece) => worth(DRAWER, piece))).toEqual([
      900_000, 700_000, 220_000, 160_000, 35_000, 24_000, 3_000, 1_500,
    ])
    expect(total(DRAWER)).toBe(2_043_500)
    expect(total(EMPTY)).toBe(0)
  })

  it('is sent with every piece, and the sum that the server checks', () => {
    expect(counted(DRAWER)).toEqual({ dihitung: 2_043_500, pecahan: DRAWER })
    const nothing = counted(EMPTY)
    expect(nothing.dihitung).toBe(0)
    expect(Object.keys(nothing.pecahan)).toHaveLength(8)
    for (const start of [EMPTY, DRAWER]) {
      const { dihitung, pecahan } = counted(step(step(start, '20000', 1), COINS, 1))
      const sum = Object.entries(pecahan).reduce(
        (all, [piece, n]) => all + n * (piece === COINS ? 1 : Number(piece)),
        0,
      )
      expect(dihitung).toBe(sum)
    }
  })

  it('goes up and down by one note, or one coin', () => {
    expect(many(step(DRAWER, '100000', 1), '100000')).toBe(10)
    expect(many(step(DRAWER, '100000', -1), '100000')).toBe(8)
    expect(many(step(DRAWER, COINS, 1), COINS)).toBe(2_000)
    expect(many(step({ [COINS]: 200 }, COINS, -1), COINS)).toBe(0)
    expect(many(step(EMPTY, '1000', -1), '1000')).toBe(0)
    expect(DRAWER['100000']).toBe(9)
  })

  it('takes whole numbers that a drawer could hold', () => {
    for (const [wanted, kept] of [
      [12, 12],
      [-3, 0],
      [2.9, 2],
      [Number.NaN, 0],
      [1e12, mostOf('1000')],
    ] as const) {
      expect(many(put(EMPTY, '1000', wanted), '1000')).toBe(kept)
    }
  })

  it('goes from the largest note to the coins', () => {
    const order = ['100000']
    for (let piece = nextPiece('100000'); piece !== null; piece = nextPiece(piece)) order.push(piece)
    expect(order).toEqual(PIECES)
  })
})
