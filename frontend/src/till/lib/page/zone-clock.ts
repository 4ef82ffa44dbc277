const DAY_MIN = 24 * 60
const MINUTE_MS = 60_000
const DAYS = ['Mon', 'Tue', 'Wed', 'Thu', 'Fri', 'Sat', 'Sun']

/** Where outlets are unless configured otherwise. */
export const JAKARTA = 'Asia/Jakarta'

const NAMES: Record<string, string> = {
  [JAKARTA]: 'WIB',
  'Asia/Makassar': 'WITA',
  'Asia/Jayapura': 'WIT',
}

/** `WITA`; a zone outside of Indonesia keeps its own name. */
export const zoneName = (zone: string): string => NAMES[zone] ?? zone

/** Making a format costs much more than using it. */
const formats = new Map<string, Intl.DateTimeFormat>()

function partsThere(at_ms: number, zone: string): Record<string, string> {
  let format = formats.get(zone)
  if (!format) {
    format = new Intl.DateTimeFormat('en-GB', {
      timeZone: zone,
      weekday: 'short',
      day: '2-digit',
      month: '2-digit',
      year: 'numeric',
      hour: '2-digit',
      minute: '2-digit',
      hourCycle: 'h23',
    })
    formats.set(zone, format)
  }
  return Object.fromEntries(format.formatToParts(at_ms).map(({ type, value }) => [type, value]))
}

/** The outlet's wall clock: the weekday (1 is Monday) and the minutes after midnight. */
export function wallClock(at_ms: number, zone: string): { day: number; minute: number } {
  const { weekday = '', hour, minute } = partsThere(at_ms, zone)
  return { day: DAYS.indexOf(weekday) + 1, minute: Number(hour) * 60 + Number(minute) }
}

/** `22.00` on the outlet's wall clock. */
export function clockThere(at_ms: number, zone: string): string {
  const { hour, minute } = partsThere(at_ms, zone)
  return `${hour}.${minute}`
}

/** `27/11/2026` on the outlet's calendar. */
export function dateThere(at_ms: number, zone: string): string {
  const { day, month, year } = partsThere(at_ms, zone)
  return `${day}/${month}/${year}`
}

/** `22.00` where the outlet's day is today's, else `27/11/2026 22:00`, by the outlet's clock. */
export function momentThere(at_ms: number, zone: string, now_ms: number): string {
  const date = dateThere(at_ms, zone)
  const clock = clockThere(at_ms, zone)
  return date === dateThere(now_ms, zone) ? clock : `${date} ${clock.replace('.', ':')}`
}

/**
 * The next instant, epoch ms, at which the outlet's wall clock shows this minute of the day, and whether that is on the next day. A
 * change of summer time in between is ignored: Indonesia has none.
 */
export function nextAt(minute: number, zone: string, now_ms: number): { at_ms: number; tomorrow: boolean } {
  const now = wallClock(now_ms, zone).minute
  const ahead = (minute - now + DAY_MIN) % DAY_MIN || DAY_MIN
  return {
    at_ms: Math.floor(now_ms / MINUTE_MS) * MINUTE_MS + ahead * MINUTE_MS,
    tomorrow: now + ahead >= DAY_MIN,
  }
}

/** The instant, epoch ms, at which the outlet's wall clock shows this minute of a day (`2026-11-24`). */
export function instantAt(day: string, minute: number, zone: string): number {
  const wanted_ms = Date.parse(`${day}T00:00:00Z`) + minute * MINUTE_MS
  // The wall clock read as if it were UTC is ahead by the zone's offset; twice, because the offset itself may change in between.
  let at_ms = wanted_ms
  for (let n = 0; n < 2; n++) at_ms += wanted_ms - wallAsUtc(at_ms, zone)
  return at_ms
}

/** The outlet's wall clock, as epoch ms of the same clock in UTC. */
export function wallAsUtc(at_ms: number, zone: string): number {
  const format = new Intl.DateTimeFormat('en-GB', {
    timeZone: zone,
    year: 'numeric',
    month: '2-digit',
    day: '2-digit',
    hour: '2-digit',
    minute: '2-digit',
    hourCycle: 'h23',
  })
  const parts = Object.fromEntries(format.formatToParts(at_ms).map(({ type, value }) => [type, value]))
  const { year, month, day, hour, minute } = parts
  return Date.parse(`${year}-${month}-${day}T${hour}:${minute}:00Z`) + (at_ms % MINUTE_MS)
}
