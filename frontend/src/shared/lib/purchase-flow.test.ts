import { afterEach, expect, it } from 'vitest'
import { dropNota, endPurchase, markPaid, openNota, type PurchaseFlow, purchaseFlow } from './purchase-flow'

afterEach(() => sessionStorage.clear())

const flow: Required<PurchaseFlow> = {
  qr: 'NYM1.x',
  mesin: {
    id: 7,
    nama: 'Mesin 07',
    idowner: 1,
    status: 'idle',
    tl: null,
    ends_at: null,
    outlet: { idoutlet: 3, nama: 'M', kota: 'B' },
  },
  layanan: { id: 5, nama: 'Cuci', durasi: 60, harga: 8_000, idoutlet: 3 },
  epay: { idcustomer: 9, nama: 'S', owner_idowner: 1, outlet: null, quota_emoney: null },
}

it('the payment is of the machine’s outlet and the service’s price', () => {
  const { nota, body } = openNota(flow)
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
  const first = openNota(flow, new Date('2026-11-20T10:00:00Z'))
  markPaid(first, 50_000, 5)
  const again = openNota(flow, new Date('2026-11-20T10:00:09Z'))
  expect(again.nota).toBe(first.nota)
  expect(again.paid_ms).toBe(5)
  expect(again.saldo).toBe(50_000)
  markPaid(again, 42_000, 6)
  expect(openNota(flow).saldo).toBe(50_000)
})

it('another choice, or an outcome, gets a new number', () => {
  const first = openNota(flow, new Date('2026-11-20T10:00:00Z'))
  const dearer = { ...flow, layanan: { ...flow.layanan, harga: 9_000 } }
  expect(openNota(dearer, new Date('2026-11-20T10:00:01Z')).nota).not.toBe(first.nota)
  dropNota()
  expect(openNota(flow, new Date('2026-11-20T10:00:02Z')).nota).not.toBe(first.nota)
})

it('is forgotten when the purchase is over', () => {
  purchaseFlow.write(flow)
  openNota(flow)
  endPurchase()
  expect(purchaseFlow.read()).toBeNull()
})
