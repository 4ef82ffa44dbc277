import { months } from '@/shared/copy/common'

// Numbers and dates are formatted by hand: the first use of `Intl` in another language than the phone's blocks a weak phone for a tenth
// of a second, just before the first balance is drawn.

/** Whole rupiah as `Rp 85.000`, negative as `-Rp 8.000`; decimals only when there are any (docs/product.md §9). */
export function rupiah(value: number): string {
  const [whole = '', cents = ''] = Math.abs(value).toFixed(2).split('.')
  const digits = [whole.replace(/\B(?=(\d{3})+$)/g, '.'), cents.replace(/0+$/, '')].filter(Boolean).join(',')
  return `${value < 0 ? '-' : ''}Rp ${digits}`
}

/** Like `rupiah`, with a plus before incoming money: the sign carries the meaning, not the colour alone. */
export function signedRupiah(value: number): string {
  return value > 0 ? `+${rupiah(value)}` : rupiah(value)
}

/** Jakarta's clock, which has no summer time: outlets are in western Indonesia unless configured otherwise. */
const ZONE_MS = 7 * 3_600_000

type Parts = Record<'day' | 'month' | 'year' | 'hour' | 'minute' | 'second', string>

/** The parts of an instant in Jakarta; null for an invalid date. */
export function partsOf(instant: string | number | Date): Parts | null {
  const date = new Date(new Date(instant).getTime() + ZONE_MS)
  if (Number.isNaN(date.getTime())) return null
  const [year = '', month = '', day = '', hour = '', minute = '', second = ''] = date
    .toISOString()
    .split(/[-T:.]/)
  return { year, month, day, hour, minute, second }
}

/** `20/11/2026` */
export function formatDate(instant: string | number | Date): string {
  const b = partsOf(instant)
  return b ? `${b.day}/${b.month}/${b.year}` : '-'
}

/** `20/11/2026 18:05` */
export function formatDateTime(instant: string | number | Date): string {
  const b = partsOf(instant)
  return b ? `${b.day}/${b.month}/${b.year} ${b.hour}:${b.minute}` : '-'
}

/** `18.05`: with a dot, so that it does not look like a countdown. */
export function clockTime(instant: string | number | Date): string {
  const b = partsOf(instant)
  return b ? `${b.hour}.${b.minute}` : '-'
}

/** A moment as text: `18.05` today, `20/11/2026 18:05` on any other day. */
export function moment(at: number, now = Date.now()): string {
  return formatDate(at) === formatDate(now) ? clockTime(at) : formatDateTime(at)
}

/** `November 2026`, the history's separator. */
export function formatMonth(instant: string | number | Date): string {
  const b = partsOf(instant)
  return b ? `${months[Number(b.month) - 1]} ${b.year}` : '-'
}

/** Whole minutes of a duration in seconds, floored (docs/product.md §9). */
export function wholeMinutes(duration_s: number): number {
  return Math.floor(duration_s / 60)
}

const twoDigits = (n: number) => String(n).padStart(2, '0')

/**
 * Time left as `mm:ss`, from 100 minutes on `h:mm:ss`. Rounded up, so that `00:00` is shown when and
 * only when nothing is left.
 */
export function formatLeft(left_ms: number): string {
  const seconds = Math.max(0, Math.ceil(left_ms / 1000))
  const m = Math.floor(seconds / 60)
  if (m < 100) return `${twoDigits(m)}:${twoDigits(seconds % 60)}`
  return `${Math.floor(m / 60)}:${twoDigits(m % 60)}:${twoDigits(seconds % 60)}`
}

/** A telephone number without country code in groups of four with a leading 0: `0812 3456 7890`. */
export function groupedTelp(telp: string): string {
  const full = telp.startsWith('0') ? telp : `0${telp}`
  return full.replace(/(.{4})(?=.)/g, '$1 ')
}
