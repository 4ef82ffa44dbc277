import type { AkunEpay, CreateSnapTransaksi, DataLayanan, DataMesin, PriceNow } from '@/shared/api/model'
import { currentCustomer } from '@/shared/lib/session/auth-store'
import { CUSTOMER_PREFIX, isRecord, PRIVATE_PREFIX, slot } from '@/shared/lib/session/storage'
import { anyOpen, forgetOpen, isOpen, rememberOpen } from './open-receipts'
import { isReceiptNumber, newReceiptNumber } from './receipt-number'

/** The choices between the scan and the payment. Phones store them, and the receipt, with these field names. */
export interface PurchaseFlow {
  /** The sticker's text or its typed code. */
  qr: string
  mesin: DataMesin
  layanan?: DataLayanan
  epay?: AkunEpay
  /** The price that the customer wanted to pay, rupiah, until they have seen that it changed. */
  harga_lama?: number
}

/** All choices, as the payment needs them. */
export type CompleteFlow = PurchaseFlow & Required<Pick<PurchaseFlow, 'layanan' | 'epay'>>

const isFlow = (value: unknown): value is PurchaseFlow =>
  isRecord(value) && typeof value.qr === 'string' && isRecord(value.mesin)

/** Kept for the session, so that a reload in any step continues there. */
export const purchaseFlow = slot<PurchaseFlow>('session', `${PRIVATE_PREFIX}beli`, isFlow)

/** The receipt of one visit to /pembayaran. */
export interface PurchaseReceipt {
  nota: string
  /** `id_customer_global` of its owner: the answer may arrive when another customer, or none, is logged in. */
  customer: string
  /** Epoch ms of the phone. */
  made_ms: number
  /** The time when the customer pressed the button; null before. */
  paid_ms: number | null
  /** The balance at that time, rupiah; null before. */
  saldo: number | null
  body: CreateSnapTransaksi
}

const isReceipt = (value: unknown): value is PurchaseReceipt =>
  isRecord(value) &&
  typeof value.nota === 'string' &&
  isReceiptNumber(value.nota) &&
  typeof value.made_ms === 'number' &&
  isRecord(value.body)

const receiptSlot = slot<PurchaseReceipt>('session', `${PRIVATE_PREFIX}nota`, isReceipt)

/** A receipt whose payment was sent, with its choice. */
interface SentPurchase {
  nota: PurchaseReceipt
  flow: PurchaseFlow
}

const isSent = (value: unknown): value is SentPurchase =>
  isRecord(value) && isReceipt(value.nota) && isFlow(value.flow)

/** The receipt to resume after a restart of the app, after a new login of the same customer, or in another tab. */
const sentSlot = (customer: string) =>
  slot<SentPurchase>('local', `${CUSTOMER_PREFIX}${customer}.sent`, isSent)

/**
 * The receipt for the current choice: the stored one while its outcome is unknown and it has the same choice, else a new one. Its number
 * lets a repeated request charge only once.
 */
export function openReceipt(flow: CompleteFlow, now = new Date()): PurchaseReceipt {
  const customer = currentCustomer()
  const kept = receiptSlot.read()
  const body = {
    idcustomer: flow.epay.idcustomer,
    idmesin: flow.mesin.id,
    idoutlet: flow.mesin.outlet.idoutlet,
    idsnap_layanan: flow.layanan.id,
    total: flow.layanan.harga,
    grandtotal: flow.layanan.harga,
  }
  if (kept && sameChoice(kept.body, body)) return { ...kept, customer }
  dropReceipt()
  const receiptNumber = newReceiptNumber(now)
  const fresh: PurchaseReceipt = {
    nota: receiptNumber,
    customer,
    made_ms: now.getTime(),
    paid_ms: null,
    saldo: null,
    body: { id: receiptNumber, ...body },
  }
  receiptSlot.write(fresh)
  return fresh
}

function sameChoice(kept: CreateSnapTransaksi, body: Omit<CreateSnapTransaksi, 'id'>): boolean {
  return (Object.keys(body) as (keyof typeof body)[]).every((key) => kept[key] === body[key])
}

/** Records the tap on the button: from now on the receipt shows the balance of this moment, before the price. */
export function markPaid(receipt: PurchaseReceipt, balance: number, now = Date.now()): void {
  const paid = { ...receipt, paid_ms: now, saldo: receipt.saldo ?? balance }
  markSent(receipt, now)
  receiptSlot.write(paid)
  const flow = purchaseFlow.read()
  if (flow && isOf(flow, receipt.body)) sentSlot(receipt.customer).write({ nota: paid, flow })
}

/** Records each attempt: until the server decides, this receipt may take money. */
export function markSent({ customer, nota }: PurchaseReceipt, now = Date.now()): void {
  rememberOpen(customer, nota, now)
}

/**
 * Restores a receipt that was sent and is undecided as this tab's choice, unless the tab has started another one. True: /pembayaran
 * resumes it.
 */
export function takeUpSent(now = Date.now()): boolean {
  const customer = currentCustomer()
  const place = sentSlot(customer)
  const sent = place.read()
  if (!sent) return false
  if (!isOpen(customer, sent.nota.nota, now)) {
    place.clear()
    return false
  }
  if (receiptSlot.read()?.nota === sent.nota.nota) return true
  if (purchaseFlow.read()) return false
  purchaseFlow.write(sent.flow)
  receiptSlot.write(sent.nota)
  return true
}

/** The customer goes to the dashboard instead: the app no longer returns to this receipt, but it stays open. */
export function leaveSent({ customer, nota }: PurchaseReceipt): void {
  const place = sentSlot(customer)
  if (place.read()?.nota.nota === nota) place.clear()
}

/** The customer chooses again. A receipt that may have been paid stays open. */
export function dropReceipt(): void {
  const kept = receiptSlot.read()
  if (kept) leaveSent({ ...kept, customer: currentCustomer() })
  receiptSlot.clear()
}

/** Whether a purchase of this customer may still take money; then the app must not say that none was taken. */
export const leftOpen = ({ customer }: PurchaseReceipt, now = Date.now()): boolean => anyOpen(customer, now)

/** Closes the decided receipt. A purchase that the customer has started since then is not touched. */
export function endPurchase(decided: PurchaseReceipt): void {
  const { customer, nota, body } = decided
  forgetOpen(customer, nota)
  leaveSent(decided)
  if (receiptSlot.read()?.nota !== nota) return
  receiptSlot.clear()
  const flow = purchaseFlow.read()
  if (flow && isOf(flow, body)) purchaseFlow.clear()
}

/**
 * The same choice at the service's new price, after the server has refused the old one. It has a new receipt number that is not paid yet.
 */
export function takeNewPrice(
  refused: PurchaseReceipt,
  flow: CompleteFlow,
  { harga, harga_sampai }: PriceNow,
): CompleteFlow {
  endPurchase(refused)
  const { layanan } = flow
  const changed = { ...flow, layanan: { ...layanan, harga, harga_sampai }, harga_lama: layanan.harga }
  purchaseFlow.write(changed)
  return changed
}

/** The customer has seen the new price. */
export function acceptNewPrice(): void {
  const flow = purchaseFlow.read()
  if (!flow) return
  const { harga_lama: _, ...rest } = flow
  purchaseFlow.write(rest)
}

function isOf({ mesin, layanan, epay }: PurchaseFlow, body: CreateSnapTransaksi): boolean {
  return (
    mesin.id === body.idmesin && layanan?.id === body.idsnap_layanan && epay?.idcustomer === body.idcustomer
  )
}
