import { currentCustomer } from '@/shared/lib/session/auth-store'
import { isRecord, PRIVATE_PREFIX, slot } from '@/shared/lib/session/storage'

/** The last known value, and its time (epoch ms). */
export interface Seen<T> {
  data: T
  at: number
}

interface KeptSnapshot extends Seen<unknown> {
  /** The customer's id: a phone may change hands. */
  id: string
}

const isKept = (value: unknown): value is KeptSnapshot =>
  isRecord(value) && typeof value.id === 'string' && typeof value.at === 'number' && 'data' in value

/**
 * Keeps the last good answer for the logged-in customer, so that a reload and a phone without network show something, with its age. It is
 * removed with the session. `valid` checks whether it still has this shape.
 */
export function offlineSnapshot<T>(name: string, valid: (data: unknown) => data is T) {
  const place = slot('local', PRIVATE_PREFIX + name, isKept)
  return {
    load(): Seen<T> | null {
      const kept = place.read()
      return kept && kept.id === currentCustomer() && valid(kept.data)
        ? { data: kept.data, at: kept.at }
        : null
    },
    save(data: T, at: number): void {
      const id = currentCustomer()
      if (id) place.write({ id, at, data })
    },
  }
}
