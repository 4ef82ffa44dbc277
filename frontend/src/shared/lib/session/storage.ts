/**
 * Web storage that never throws. An invalid value counts as missing; where storage is full or forbidden (private mode), a value is kept
 * until the page is closed.
 */
const memory = new Map<string, unknown>()

type Kind = 'local' | 'session'

function open(kind: Kind): Storage | null {
  try {
    return kind === 'local' ? window.localStorage : window.sessionStorage
  } catch {
    return null
  }
}

export interface Slot<T> {
  read: () => T | null
  /** Whether the value survives the page. */
  write: (value: T) => boolean
  clear: () => void
}

/** One typed place in storage; `valid` checks whether a stored value still has the expected shape. */
export function slot<T>(kind: Kind, key: string, valid: (value: unknown) => value is T): Slot<T> {
  return {
    read() {
      try {
        const raw = open(kind)?.getItem(key)
        const value: unknown = raw == null ? memory.get(key) : JSON.parse(raw)
        return valid(value) ? value : null
      } catch {
        const value = memory.get(key)
        return valid(value) ? value : null
      }
    },
    write(value) {
      try {
        const storage = open(kind)
        if (!storage) throw new Error('no storage')
        storage.setItem(key, JSON.stringify(value))
        memory.delete(key)
        return true
      } catch {
        memory.set(key, value)
        return false
      }
    },
    clear: () => remove(kind, key),
  }
}

export function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** Keys with this prefix hold data of one customer; they are removed when the session ends. */
export const PRIVATE_PREFIX = 'nyala.pribadi.'

export function clearPrivate(kinds: readonly Kind[] = ['local', 'session']): void {
  for (const kind of kinds) for (const key of keysOf(kind, PRIVATE_PREFIX)) remove(kind, key)
}

/**
 * Keys with this prefix, followed by the customer's id, survive a session that the server ended. They are removed with a chosen logout,
 * and when another customer logs in.
 */
export const CUSTOMER_PREFIX = 'nyala.customer.'

export function clearCustomers(except: string | null = null): void {
  for (const key of keysOf('local', CUSTOMER_PREFIX)) {
    if (except === null || !key.startsWith(`${CUSTOMER_PREFIX}${except}.`)) remove('local', key)
  }
}

/** The keys of all places with this prefix, including those that are kept only until the page is closed. */
export function keysOf(kind: Kind, prefix: string): string[] {
  const stored = () => {
    try {
      return Object.keys(open(kind) ?? {})
    } catch {
      return []
    }
  }
  return [...new Set([...stored(), ...memory.keys()])].filter((key) => key.startsWith(prefix))
}

function remove(kind: Kind, key: string): void {
  memory.delete(key)
  try {
    open(kind)?.removeItem(key)
  } catch {
    // Nothing is stored, so nothing must be cleared.
  }
}
