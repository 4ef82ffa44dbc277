import { isRecord, slot } from '@/shared/lib/storage'

/** What became of this till's shift, told to the other tabs. */
export interface ShiftNews {
  /** The shift that is over; null where one was opened. */
  closed: number | null
  /** The same twice is news twice. */
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

/** Hears of it until the returned function is called. A shift belongs to a browser: other tabs are all who can change it. */
export function hearShift(hear: (closed: number | null) => void): () => void {
  const onStorage = ({ key }: StorageEvent) => {
    const told = key === KEY && news.read()
    if (told) hear(told.closed)
  }
  window.addEventListener('storage', onStorage)
  return () => window.removeEventListener('storage', onStorage)
}
