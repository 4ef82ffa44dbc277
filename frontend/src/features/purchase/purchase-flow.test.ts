import { afterEach, beforeEach, expect, it } from 'vitest'
import { useAuth } from '@/shared/lib/session/auth-store'
import {
  acceptNewPrice,
  type CompleteFlow,
  dropReceipt,
  endPurchase,
  leaveSent,
  leftOpen,
  markPaid,
  openReceipt,
  purchaseFlow,
  takeNewPrice,
  takeUpSent,
} from './purchase-flow'

const tokenOf = (id: number, jti = 'a') => `h.${btoa(JSON.stringify({ id_customer_global: id, jti }))}.s`

beforeEach(() => useAuth.getState().signIn(tokenOf(1)))
afterEach(() => {
  useAuth.setState({ token: null })
  sessionStorage.clear()
  localStorage.clear()
})

const flow: CompleteFlow = {
  qr: 'NYM1.x',
  mesin: {
    id: 7,
    nama: 'Mesin 07',
    idowner: 1,
    status: 'idle',
    tl: null,
    ends_at: null,
    outlet: { idoutlet: 3, nama: 'M', kota: 'B', tutup: null },
  },
  layanan: { id: 5, nama: 'Cuci', durasi: 60, harga: 8_000, harga_sampai: null, idoutlet: 3 },
  epay: { idcustomer: 9, nama: 'S', owner_idowner: 1, outlet: null, quota_emoney: null },
}

it('the payment is of the machine’s outlet and the service’s price', () => {
  const { nota, body } = openReceipt(flow)
  expect(body).toEqual({
    id: nota,
    idcustomer: 9,
    idmesin: 7,
    idoutlet: 3,
    idsnap_layanan: 5,
    total: 8_000,
    grandtotal: 8_000,
  })
})

it('keeps its number over a reload, also once paid', () => {
  const first = openReceipt(flow, new Date('2026-11-20T10:00:00Z'))
  markPaid(first, 50_000, 5)
  const again = openReceipt(flow, new Date('2026-11-20T10:00:09Z'))
  expect(again.nota).toBe(first.nota)
  expect(again.paid_ms).toBe(5)
  expect(again.saldo).toBe(50_000)
  markPaid(again, 42_000, 6)
  expect(openReceipt(flow).saldo).toBe(50_000)
})

it('another choice, or an outcome, gets a new number', () => {
  const first = openReceipt(flow, new Date('2026-11-20T10:00:00Z'))
  const dearer = { ...flow, layanan: { ...flow.layanan, harga: 9_000 } }
  expect(openReceipt(dearer, new Date('2026-11-20T10:00:01Z')).nota).not.toBe(first.nota)
  dropReceipt()
  expect(openReceipt(flow, new Date('2026-11-20T10:00:02Z')).nota).not.toBe(first.nota)
})

it('is forgotten when the purchase is over', () => {
  purchaseFlow.write(flow)
  endPurchase(openReceipt(flow))
  expect(purchaseFlow.read()).toBeNull()
})

const other = { ...flow, mesin: { ...flow.mesin, id: 8 } }

it('the late end of one purchase leaves the next one alone', () => {
  const first = openReceipt(flow, new Date('2026-11-20T10:00:00Z'))
  markPaid(first, 50_000)
  // The machine was scanned again: the rest is still to be chosen.
  dropReceipt()
  purchaseFlow.write({ qr: 'NYM1.y', mesin: other.mesin })
  endPurchase(first)
  expect(purchaseFlow.read()?.mesin.id).toBe(8)
  purchaseFlow.write(other)
  const second = openReceipt(other, new Date('2026-11-20T10:00:05Z'))
  endPurchase(first)
  expect(purchaseFlow.read()).toEqual(other)
  expect(openReceipt(other).nota).toBe(second.nota)
  endPurchase(second)
  expect(purchaseFlow.read()).toBeNull()
})

it('and leaves another service that was chosen meanwhile', () => {
  const first = openReceipt(flow)
  const { epay: _, ...half } = { ...flow, layanan: { ...flow.layanan, id: 6 } }
  purchaseFlow.write(half)
  endPurchase(first)
  expect(purchaseFlow.read()).toEqual(half)
})

const NOW = Date.parse('2026-11-20T10:00:00Z')

/** Pays for this choice at this time; the answer is lost. */
function payLost(chosen: CompleteFlow, at: number) {
  purchaseFlow.write(chosen)
  const receipt = openReceipt(chosen, new Date(at))
  markPaid(receipt, 50_000, at)
  return receipt
}

it('a receipt that may have been paid is left open when the customer chooses anew, until it is decided', () => {
  const first = openReceipt(flow, new Date(NOW))
  dropReceipt()
  expect(leftOpen(first, NOW)).toBe(false)
  payLost(flow, NOW)
  openReceipt(other, new Date(NOW + 1))
  expect(leftOpen(first, NOW + 19 * 60_000)).toBe(true)
  endPurchase(first)
  expect(leftOpen(first, NOW + 1)).toBe(false)
})

it('of two that were left open, the end of one says nothing about the other', () => {
  const first = payLost(flow, NOW)
  dropReceipt()
  const second = payLost(other, NOW + 1_000)
  dropReceipt()
  endPurchase(second)
  expect(leftOpen(second, NOW + 2_000)).toBe(true)
  endPurchase(first)
  expect(leftOpen(second, NOW + 2_000)).toBe(false)
})

it('a session that the server ended keeps the receipt: after the next login it is asked on about', () => {
  const receipt = payLost(flow, Date.now())
  useAuth.getState().expire()
  expect(purchaseFlow.read()).toBeNull()
  useAuth.getState().signIn(tokenOf(1, 'b'))
  expect(leftOpen(receipt)).toBe(true)
  expect(takeUpSent()).toBe(true)
  expect(purchaseFlow.read()).toEqual(flow)
  const again = openReceipt(flow)
  expect(again.nota).toBe(receipt.nota)
  expect(again.paid_ms).not.toBeNull()
  expect(again.saldo).toBe(50_000)
})

it('somebody else who logs in finds nothing of it, and it is still open for its customer', () => {
  const receipt = payLost(flow, Date.now())
  useAuth.getState().expire()
  useAuth.getState().signIn(tokenOf(2))
  expect(takeUpSent()).toBe(false)
  expect(leftOpen(openReceipt(flow))).toBe(false)
  expect(Object.values(localStorage).join()).not.toContain('Mesin 07')
  useAuth.getState().expire()
  useAuth.getState().signIn(tokenOf(1))
  expect(takeUpSent()).toBe(false)
  expect(leftOpen(receipt)).toBe(true)
})

it('a chosen logout leaves nothing but that a number is open', () => {
  const receipt = payLost(flow, Date.now())
  useAuth.getState().signOut()
  expect(Object.keys(localStorage)).toEqual([`nyala.open.1.${receipt.nota}`])
  useAuth.getState().signIn(tokenOf(1, 'b'))
  expect(takeUpSent()).toBe(false)
  expect(leftOpen(receipt)).toBe(true)
})

it('an answer that comes after the session was ended is of its own customer', () => {
  const receipt = payLost(flow, Date.now())
  useAuth.getState().expire()
  endPurchase(receipt)
  expect(leftOpen(receipt)).toBe(false)
  useAuth.getState().signIn(tokenOf(1, 'b'))
  expect(takeUpSent()).toBe(false)
})

it('after a restart of the app, and in another tab, an undecided receipt is taken up', () => {
  const receipt = payLost(flow, NOW)
  sessionStorage.clear()
  expect(leftOpen(receipt, NOW + 1)).toBe(true)
  expect(takeUpSent(NOW + 1)).toBe(true)
  expect(openReceipt(flow).nota).toBe(receipt.nota)
  // A reload during the request finds the receipt too.
  expect(takeUpSent(NOW + 2)).toBe(true)
})

it('but not when it is decided, too old, left for the dashboard, or another purchase has been begun', () => {
  endPurchase(payLost(flow, NOW))
  expect(takeUpSent(NOW + 1)).toBe(false)

  payLost(flow, NOW)
  sessionStorage.clear()
  expect(takeUpSent(NOW + 21 * 60_000)).toBe(false)
  expect(takeUpSent(NOW + 1)).toBe(false)

  const receipt = payLost(flow, NOW)
  leaveSent(receipt)
  expect(takeUpSent(NOW + 1)).toBe(false)
  expect(leftOpen(receipt, NOW + 1)).toBe(true)

  payLost(flow, NOW)
  sessionStorage.clear()
  purchaseFlow.write(other)
  expect(takeUpSent(NOW + 1)).toBe(false)
  expect(purchaseFlow.read()).toEqual(other)
})

it('a new price is another receipt of the same choice, and remembers the old one until it is seen', () => {
  purchaseFlow.write(flow)
  const first = openReceipt(flow, new Date('2026-11-20T10:00:00Z'))
  markPaid(first, 50_000)
  const changed = takeNewPrice(first, flow, { idlayanan: 5, harga: 7_000, harga_sampai: 9 })
  expect(changed).toMatchObject({ mesin: { id: 7 }, harga_lama: 8_000, epay: { idcustomer: 9 } })
  expect(changed.layanan).toEqual({ ...flow.layanan, harga: 7_000, harga_sampai: 9 })
  expect(purchaseFlow.read()).toEqual(changed)
  const next = openReceipt(changed, new Date('2026-11-20T10:00:01Z'))
  expect(next.nota).not.toBe(first.nota)
  expect(next.paid_ms).toBeNull()
  expect(next.body).toMatchObject({ total: 7_000, grandtotal: 7_000 })
  expect(leftOpen(first)).toBe(false)
  acceptNewPrice()
  expect(purchaseFlow.read()).not.toHaveProperty('harga_lama')
  expect(openReceipt(changed).nota).toBe(next.nota)
})
