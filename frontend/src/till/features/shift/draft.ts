import { isRecord, slot } from '@/shared/lib/session/storage'
import { type Count, EMPTY, PIECES } from '@/till/lib/money/cash-count'

interface CountDraft {
  shift: number
  who: number
  count: Count
}

/** A count takes minutes: another screen, a lock or a reload must not lose it. */
const kept = slot<CountDraft>('session', 'nyala.kasir.count', (value): value is CountDraft => {
  if (!isRecord(value) || typeof value.shift !== 'number' || typeof value.who !== 'number') return false
  const { count } = value
  return isRecord(count) && PIECES.every((piece) => ['undefined', 'number'].includes(typeof count[piece]))
})

export const countDraft = {
  /** A draft is only for the member of staff who counted; another one starts at zero. */
  read(shift: number, who: number): Count {
    const draft = kept.read()
    return draft?.shift === shift && draft.who === who ? draft.count : EMPTY
  },
  write: (shift: number, who: number, count: Count) => void kept.write({ shift, who, count }),
  clear: kept.clear,
}
