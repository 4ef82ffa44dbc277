/** `22:00` of a time that a person typed (`22.00`, `22:00`, `2200`, `22`), up to `24:00`; null for any other text. */
export function parseClock(text: string): string | null {
  const found = /^(\d{1,2})(?:[.:]?(\d{2}))?$/.exec(text.trim())
  if (!found) return null
  const [, hour = '', minute = '00'] = found
  const minutes = Number(hour) * 60 + Number(minute)
  return Number(minute) < 60 && minutes <= 24 * 60 ? `${hour.padStart(2, '0')}:${minute}` : null
}

/** `22.00` of the server's `22:00`: with a dot, so that it does not look like a countdown. */
export const clockText = (time: string): string => time.replace(':', '.')

/** Minutes after midnight of `22:00`. */
export function minuteOf(time: string): number {
  const [hour, minute] = time.split(':')
  return Number(hour) * 60 + Number(minute)
}
