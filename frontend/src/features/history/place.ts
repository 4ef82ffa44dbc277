import { isRecord, PRIVATE_PREFIX, slot } from '@/shared/lib/storage'

/** Where somebody was in the list: so many pages were there, and this entry stood so far (px) from the top of the screen. */
export interface Place {
  pages: number
  entry: string
  top: number
}

/** Older visits are forgotten: nobody goes back further. */
const VISITS = 10

/** A longer list is not loaded again to its end by itself. */
const PAGES_MAX = 25

type Places = [visit: string, place: Place][]

const isPlace = (value: unknown): value is Place =>
  isRecord(value) &&
  typeof value.pages === 'number' &&
  typeof value.entry === 'string' &&
  typeof value.top === 'number'

/** By visit, the oldest first. For this tab, as its history is, and gone with the session. */
const places = slot<Places>(
  'session',
  `${PRIVATE_PREFIX}places`,
  (value): value is Places =>
    Array.isArray(value) &&
    value.every((one) => Array.isArray(one) && typeof one[0] === 'string' && isPlace(one[1])),
)

/** A visit is an entry of the browser's history, by its key. */
export function placeOf(visit: string): Place | null {
  return places.read()?.find(([key]) => key === visit)?.[1] ?? null
}

export function keepPlace(visit: string, { pages, entry, top }: Place): void {
  const others = (places.read() ?? []).filter(([key]) => key !== visit)
  const place: Place = { pages: Math.min(pages, PAGES_MAX), entry, top }
  places.write([...others, [visit, place] as Places[number]].slice(-VISITS))
}
