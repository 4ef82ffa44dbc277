/**
 * Web storage that never throws. A value somebody else wrote reads as "nothing there"; where storage is
 * full or forbidden (private mode), a value lives as long as the page.
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
  write: (value: T) => void
  clear: () => void
}

/** One typed place in storage; `valid` decides whether what was found is still what we wrote. */
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
      } catch {
        memory.set(key, value)
      }
    },
    clear() {
      memory.delete(key)
      try {
        open(kind)?.removeItem(key)
      } catch {
        // Nothing kept, nothing to clear.
      }
    },
  }
}

export function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** Keys that begin so hold something of one customer; they go when the session ends. */
export const PRIVATE_PREFIX = 'nyala.pribadi.'

export function clearPrivate(kinds: readonly Kind[] = ['local', 'session']): void {
  for (const key of memory.keys()) if (key.startsWith(PRIVATE_PREFIX)) memory.delete(key)
  for (const kind of kinds) {
    try {
      const storage = open(kind)
      if (!storage) continue
      for (const key of Object.keys(storage)) if (key.startsWith(PRIVATE_PREFIX)) storage.removeItem(key)
    } catch {
      // Nothing kept, nothing to clear.
    }
  }
}
