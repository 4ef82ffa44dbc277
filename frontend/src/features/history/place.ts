import { isRecord, PRIVATE_PREFIX, slot } from '@/shared/lib/session/storage'

/** The customer's place in the list: the number of loaded pages, and the distance (px) of this entry from the top of the screen. */
export interface Place {
  pages: number
  entry: string
  top: number
}

/** Older visits are dropped: customers do not go back further. */
const VISITS = 10

/** A longer list is not reloaded to its end automatically. */
const PAGES_MAX = 25

type Places = [visit: string, place: Place][]

const isPlace = (value: unknown): value is Place =>
  isRecord(value) &&
  typeof value.pages === 'number' &&
  typeof value.entry === 'string' &&
  typeof value.top === 'number'

/** The places by visit, oldest first. They belong to this tab, like its history, and are removed with the session. */
const places = slot<Places>(
  'session',
  `${PRIVATE_PREFIX}places`,
  (value): value is Places =>
    Array.isArray(value) &&
    value.every((one) => Array.isArray(one) && typeof one[0] === 'string' && isPlace(one[1])),
)

/** A visit is an entry of the browser's history, identified by its key. */
export function placeOf(visit: string): Place | null {
  return places.read()?.find(([key]) => key === visit)?.[1] ?? null
}

export function keepPlace(visit: string, { pages, entry, top }: Place): void {
  const others = (places.read() ?? []).filter(([key]) => key !== visit)
  const place: Place = { pages: Math.min(pages, PAGES_MAX), entry, top }
  places.write([...others, [visit, place] as Places[number]].slice(-VISITS))
}
