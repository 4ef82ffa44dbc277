import { useSyncExternalStore } from 'react'
import { isRecord, keysOf, slot } from '@/shared/lib/session/storage'

/** A QRIS bill that this browser made, until its end was seen. */
export interface KeptBill {
  id: string
  /** The customer's name as the till shows it. */
  nama: string
  /** The typed number; null for a scanned code. WhatsApp needs it. */
  typed: string | null
  /** Rupiah to pay. */
  nominal: number
  /** Epoch ms. */
  made_at: number
  /** How it ended; missing while it waits. */
  ended?: string
}

const PREFIX = 'nyala.kasir.tagihan.'
/** The provider's final answer comes long before. */
const KEPT_MS = 2 * 3_600_000
/** More than a till makes within the minutes for which a bill is valid. */
const MAX_KEPT = 20

const place = (id: string) =>
  slot<KeptBill>(
    'local',
    PREFIX + id,
    (value): value is KeptBill =>
      isRecord(value) &&
      value.id === id &&
      typeof value.nama === 'string' &&
      (value.typed === null || typeof value.typed === 'string') &&
      typeof value.nominal === 'number' &&
      typeof value.made_at === 'number',
  )

const listeners = new Set<() => void>()
const changed = () => {
  for (const listener of listeners) listener()
}

/** A separate storage key per bill, so that two tabs do not overwrite each other. */
export const keptBills = {
  /** The newest first. */
  all(now = Date.now()): KeptBill[] {
    const bills = keysOf('local', PREFIX)
      .flatMap((key) => place(key.slice(PREFIX.length)).read() ?? [])
      .sort((a, b) => b.made_at - a.made_at)
    const kept = bills.filter((one, i) => i < MAX_KEPT && Math.abs(now - one.made_at) < KEPT_MS)
    for (const { id } of bills) if (!kept.some((one) => one.id === id)) place(id).clear()
    return kept
  },
  put(bill: KeptBill): void {
    place(bill.id).write(bill)
    changed()
  },
  remove(id: string): void {
    place(id).clear()
    changed()
  },
}

/** Rendered again when a bill is made or ends, in another tab too. */
export function useKeptBills(): KeptBill[] {
  const text = useSyncExternalStore(subscribe, () => JSON.stringify(keptBills.all()))
  return JSON.parse(text) as KeptBill[]
}

function subscribe(listener: () => void): () => void {
  listeners.add(listener)
  window.addEventListener('storage', listener)
  return () => {
    listeners.delete(listener)
    window.removeEventListener('storage', listener)
  }
}
