import { keysOf, slot } from '@/shared/lib/session/storage'

/**
 * Receipts whose payment was sent and whose outcome is unknown, each with its customer and the last time it was sent (epoch ms of the
 * phone). Every tab sees them, also after a restart of the app. They survive even a chosen logout: the same customer may log in again,
 * and even then the app must not say that no money was taken.
 */
const PREFIX = 'nyala.open.'

/** The server voids an unsure purchase after fifteen minutes: by then it is decided. */
const OPEN_MS = 20 * 60_000

/** Beyond this number the oldest receipts are dropped; a customer does not pay this often in that time. */
const OPEN_LIMIT = 64

/** A separate storage key per receipt, so that two tabs do not overwrite each other. */
const place = (key: string) =>
  slot('local', key, (value): value is number => typeof value === 'number' && Number.isFinite(value))

const keyOf = (customer: string, receiptNumber: string) => `${PREFIX}${customer}.${receiptNumber}`

/** Returns the open receipts with this prefix, and removes expired ones of all customers. */
function openKeys(prefix: string, now: number): { key: string; at: number }[] {
  return keysOf('local', PREFIX).flatMap((key) => {
    const at = place(key).read()
    if (at === null || now - at >= OPEN_MS) {
      place(key).clear()
      return []
    }
    return key.startsWith(prefix) ? [{ key, at }] : []
  })
}

export function rememberOpen(customer: string, receiptNumber: string, now = Date.now()): void {
  place(keyOf(customer, receiptNumber)).write(now)
  const newestFirst = openKeys(PREFIX, now).sort((a, b) => b.at - a.at)
  for (const { key } of newestFirst.slice(OPEN_LIMIT)) place(key).clear()
}

export function forgetOpen(customer: string, receiptNumber: string): void {
  place(keyOf(customer, receiptNumber)).clear()
}

export const isOpen = (customer: string, receiptNumber: string, now = Date.now()): boolean =>
  openKeys(keyOf(customer, receiptNumber), now).length > 0

export const anyOpen = (customer: string, now = Date.now()): boolean =>
  openKeys(keyOf(customer, ''), now).length > 0
