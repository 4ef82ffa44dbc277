import { beforeEach, describe, expect, it } from 'vitest'
import { type KeptBill, keptBills } from './bills'

const NOW = 1_795_000_000_000

const bill = (n: number, made_at = NOW - n * 1_000): KeptBill => ({
  id: `NYL${String(n).padStart(20, '0')}`,
  nama: 'Siti R.',
  typed: null,
  nominal: 50_000,
  made_at,
})

beforeEach(() => localStorage.clear())

describe('bills', () => {
  it('are kept, the newest first, until they are removed', () => {
    keptBills.put(bill(2))
    keptBills.put(bill(1))
    keptBills.put({ ...bill(1), ended: 'dibayar' })
    expect(keptBills.all(NOW)).toEqual([{ ...bill(1), ended: 'dibayar' }, bill(2)])
    keptBills.remove(bill(1).id)
    expect(keptBills.all(NOW)).toEqual([bill(2)])
  })

  it('are only the newest twenty of the last two hours', () => {
    for (let n = 1; n <= 21; n++) keptBills.put(bill(n))
    keptBills.put(bill(30, NOW - 2 * 3_600_000))
    expect(keptBills.all(NOW).map(({ id }) => id)).toEqual(
      Array.from({ length: 20 }, (_, i) => bill(i + 1).id),
    )
    expect(localStorage.length).toBe(20)
  })

  it('leave out what another program wrote there', () => {
    localStorage.setItem('nyala.kasir.tagihan.x', '{"id":"x"}')
    localStorage.setItem('nyala.kasir.tagihan.y', '{')
    expect(keptBills.all(NOW)).toEqual([])
  })
})
