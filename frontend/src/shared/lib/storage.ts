/**
 * Web storage that never throws: a full or forbidden storage (private mode) and a value somebody
 * else wrote both read as "nothing there".
 */
function open(kind: 'local' | 'session'): Storage | null {
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
export function slot<T>(
  kind: 'local' | 'session',
  key: string,
  valid: (value: unknown) => value is T,
): Slot<T> {
  return {
    read() {
      try {
        const raw = open(kind)?.getItem(key)
        if (raw == null) return null
        const value: unknown = JSON.parse(raw)
        return valid(value) ? value : null
      } catch {
        return null
      }
    },
    write(value) {
      try {
        open(kind)?.setItem(key, JSON.stringify(value))
      } catch {
        // Without storage the step lives as long as the page; nothing else can be done.
      }
    },
    clear() {
      try {
        open(kind)?.removeItem(key)
      } catch {
        // See write.
      }
    },
  }
}

export function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** Keys that begin so hold something of one customer; they go when the session ends. */
export const PRIVATE_PREFIX = 'nyala.pribadi.'

export function clearPrivate(): void {
  for (const kind of ['local', 'session'] as const) {
    try {
      const storage = open(kind)
      if (!storage) continue
      for (const key of Object.keys(storage)) if (key.startsWith(PRIVATE_PREFIX)) storage.removeItem(key)
    } catch {
      // Nothing kept, nothing to clear.
    }
  }
}
