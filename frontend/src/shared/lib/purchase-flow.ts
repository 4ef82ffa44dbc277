import type { AkunEpay, CreateSnapTransaksi, DataLayanan, DataMesin } from '@/shared/api/model'
import { buatNota, notaSah } from '@/shared/lib/nota'
import { isRecord, PRIVATE_PREFIX, slot } from '@/shared/lib/storage'

/** What has been chosen so far between the scan and the payment. */
export interface PurchaseFlow {
  /** The sticker's text or its typed code. */
  qr: string
  mesin: DataMesin
  layanan?: DataLayanan
  epay?: AkunEpay
}

const isFlow = (value: unknown): value is PurchaseFlow =>
  isRecord(value) && typeof value.qr === 'string' && isRecord(value.mesin)

/** Kept for the session, so that a reload in any step goes on where it was. */
export const purchaseFlow = slot<PurchaseFlow>('session', `${PRIVATE_PREFIX}beli`, isFlow)

/** The receipt of one visit of /pembayaran. */
export interface Nota {
  nota: string
  /** Epoch ms of the phone. */
  made_ms: number
  /** When the customer pressed the button; null before. */
  paid_ms: number | null
  /** The balance as it was then, rupiah; null before. */
  saldo: number | null
  body: CreateSnapTransaksi
}

const isNota = (value: unknown): value is Nota =>
  isRecord(value) &&
  typeof value.nota === 'string' &&
  notaSah(value.nota) &&
  typeof value.made_ms === 'number' &&
  isRecord(value.body)

const notaSlot = slot<Nota>('session', `${PRIVATE_PREFIX}nota`, isNota)

/**
 * The receipt for what is chosen: the kept one while its outcome is not known and it is for the same
 * choice, else a new one. The number is what makes a repeated request charge once.
 */
export function openNota(flow: Required<PurchaseFlow>, now = new Date()): Nota {
  const kept = notaSlot.read()
  const body = {
    idcustomer: flow.epay.idcustomer,
    idmesin: flow.mesin.id,
    idoutlet: flow.mesin.outlet.idoutlet,
    idsnap_layanan: flow.layanan.id,
    total: flow.layanan.harga,
    grandtotal: flow.layanan.harga,
  }
  if (kept && sameChoice(kept.body, body)) return kept
  const nota = buatNota(now)
  const fresh: Nota = {
    nota,
    made_ms: now.getTime(),
    paid_ms: null,
    saldo: null,
    body: { id: nota, ...body },
  }
  notaSlot.write(fresh)
  return fresh
}

function sameChoice(kept: CreateSnapTransaksi, body: Omit<CreateSnapTransaksi, 'id'>): boolean {
  return (Object.keys(body) as (keyof typeof body)[]).every((key) => kept[key] === body[key])
}

/** The button was pressed: from now on the receipt shows the balance of this moment, before the price. */
export function markPaid(nota: Nota, saldo: number, now = Date.now()): void {
  notaSlot.write({ ...nota, paid_ms: now, saldo: nota.saldo ?? saldo })
}

/** Thrown away after any answer but 504 and 5xx, and when the customer chooses anew. */
export function dropNota(): void {
  notaSlot.clear()
}

/** Everything of the purchase is over. */
export function endPurchase(): void {
  dropNota()
  purchaseFlow.clear()
}
