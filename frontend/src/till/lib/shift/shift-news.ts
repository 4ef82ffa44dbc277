import { isRecord, slot } from '@/shared/lib/session/storage'

/** A change of this till's shift, sent to the other tabs. */
export interface ShiftNews {
  /** The closed shift; null where one was opened. */
  closed: number | null
  /** Makes equal changes distinct, so that each fires a storage event. */
  at: number
}

const KEY = 'nyala.kasir.shift'

const news = slot<ShiftNews>(
  'local',
  KEY,
  (value): value is ShiftNews =>
    isRecord(value) && (value.closed === null || typeof value.closed === 'number'),
)

export const tellShift = (closed: number | null): void => void news.write({ closed, at: Date.now() })

/** Listens to changes until the returned function is called. A shift belongs to a browser, so only other tabs can change it. */
export function hearShift(hear: (closed: number | null) => void): () => void {
  const onStorage = ({ key }: StorageEvent) => {
    const change = key === KEY && news.read()
    if (change) hear(change.closed)
  }
  window.addEventListener('storage', onStorage)
  return () => window.removeEventListener('storage', onStorage)
}
