import { isRecord, slot } from '@/shared/lib/session/storage'

/** A change of this till's shift, sent to the other tabs. */
export interface ShiftChange {
  /** The closed shift; null where one was opened. */
  closed: number | null
  /** Makes equal changes distinct, so that each fires a storage event. */
  at: number
}

const KEY = 'nyala.kasir.shift'

const lastChange = slot<ShiftChange>(
  'local',
  KEY,
  (value): value is ShiftChange =>
    isRecord(value) && (value.closed === null || typeof value.closed === 'number'),
)

export const sendShiftChange = (closed: number | null): void =>
  void lastChange.write({ closed, at: Date.now() })

/** Listens to changes until the returned function is called. A shift belongs to a browser, so only other tabs can change it. */
export function onShiftChange(onChange: (closed: number | null) => void): () => void {
  const onStorage = ({ key }: StorageEvent) => {
    const change = key === KEY && lastChange.read()
    if (change) onChange(change.closed)
  }
  window.addEventListener('storage', onStorage)
  return () => window.removeEventListener('storage', onStorage)
}
