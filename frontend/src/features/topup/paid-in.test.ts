import { describe, expect, it } from 'vitest'
import type { AkunEpay } from '@/shared/api/model'
import type { BalanceChange } from '@/shared/realtime/balance-change'
import { type PaidInEvent, START, step, type Watched } from './paid-in'

const accounts = (balances: Record<number, number | null>): PaidInEvent => ({
  accounts: Object.entries(balances).map(
    ([id, saldo]): AkunEpay => ({
      idcustomer: Number(id),
      nama: 'Siti Rahmawati',
      owner_idowner: 1,
      outlet: null,
      quota_emoney:
        saldo === null
          ? null
          : { saldo, jenis_emoney: 2, masa_aktif: null, updated_at: '2026-11-20T11:05:00Z' },
    }),
  ),
})

const change = (idcustomer: number, saldo: number, sebab: BalanceChange['sebab'] = 'topup'): PaidInEvent => ({
  change: { idcustomer, saldo, sebab },
})

const shownAfter = (...events: PaidInEvent[]): Watched => events.reduce(step, START)

describe('money that comes in', () => {
  it('is what the account has more than before', () => {
    expect(shownAfter(accounts({ 6: 1_000, 7: 35_000 }), change(7, 85_000)).paidIn).toEqual({
      idcustomer: 7,
      balance: 85_000,
      amount: 50_000,
    })
  })

  it('may be the first of an account', () => {
    expect(shownAfter(accounts({}), change(7, 50_000)).paidIn?.amount).toBe(50_000)
    expect(shownAfter(accounts({}), accounts({ 7: 50_000 })).paidIn?.amount).toBe(50_000)
    expect(shownAfter(accounts({ 7: null }), accounts({ 7: 50_000 })).paidIn?.amount).toBe(50_000)
  })

  it('has no amount when nobody knows what there was before', () => {
    expect(shownAfter(change(7, 85_000)).paidIn).toEqual({ idcustomer: 7, balance: 85_000, amount: null })
    expect(shownAfter(accounts({ 7: 85_000 }), change(7, 85_000)).paidIn?.amount).toBeNull()
  })

  it('is found by looking again, too', () => {
    expect(shownAfter(accounts({ 7: 35_000 }), accounts({ 7: 85_000 })).paidIn).toEqual({
      idcustomer: 7,
      balance: 85_000,
      amount: 50_000,
    })
  })

  it('is not told twice, whichever way was the quicker one', () => {
    const received = shownAfter(accounts({ 7: 35_000 }), change(7, 85_000))
    // The wallet is missing in the first list and present in the second.
    for (const later of [accounts({}), accounts({ 7: 85_000 })])
      expect(step(received, later).paidIn).toBe(received.paidIn)
    const looked = shownAfter(accounts({ 7: 35_000 }), accounts({ 7: 85_000 }))
    expect(step(looked, change(7, 85_000)).paidIn).toBe(looked.paidIn)
  })

  it('is told again when there is more of it, the same amount too', () => {
    const first = shownAfter(accounts({ 7: 0 }), change(7, 50_000))
    const second = step(first, change(7, 100_000))
    expect(second.paidIn).toEqual({ idcustomer: 7, balance: 100_000, amount: 50_000 })
    expect(step({ ...first, paidIn: null }, change(7, 100_000)).paidIn?.amount).toBe(50_000)
  })
})

describe('what is no top-up', () => {
  it('shows nothing, and is no top-up later', () => {
    for (const sebab of ['refund', 'hapus', 'batal'] as const) {
      const received = shownAfter(accounts({ 7: 35_000 }), change(7, 43_000, sebab))
      expect(received.paidIn).toBeNull()
      expect(step(received, accounts({ 7: 43_000 })).paidIn).toBeNull()
      expect(step(received, change(7, 53_000)).paidIn?.amount).toBe(10_000)
    }
  })

  it('what was there when the screen came, and what is spent', () => {
    expect(shownAfter(accounts({ 7: 35_000 }), accounts({ 7: 27_000 })).paidIn).toBeNull()
    const spent = shownAfter(accounts({ 7: 35_000 }), accounts({ 7: 27_000 }), change(7, 37_000))
    expect(spent.paidIn?.amount).toBe(10_000)
  })

  it('a void takes back what is shown of its account, and of no other', () => {
    const shown = shownAfter(accounts({ 6: 9_000, 7: 35_000 }), change(7, 85_000))
    expect(step(shown, change(6, 0, 'batal')).paidIn).toBe(shown.paidIn)
    const taken = step(shown, change(7, 35_000, 'batal'))
    expect(taken.paidIn).toBeNull()
    expect(step(taken, change(7, 40_000)).paidIn?.amount).toBe(5_000)
  })

  it('who wants the code again has it until more comes', () => {
    const again = shownAfter(accounts({ 7: 35_000 }), change(7, 85_000), 'again')
    expect(again.paidIn).toBeNull()
    expect(step(again, accounts({ 7: 85_000 })).paidIn).toBeNull()
  })
})
