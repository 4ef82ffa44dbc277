import { bagian } from '@/shared/lib/format'

/** The receipt number of a purchase begun now: `SLF` and `yymmddHHMMSSmmm` (product.md §3), Jakarta time. */
export function buatNota(now: Date): string {
  const b = bagian(now)
  if (!b) throw new RangeError('buatNota needs a valid date')
  const ms = String(now.getMilliseconds()).padStart(3, '0')
  return `SLF${b.year.slice(2)}${b.month}${b.day}${b.hour}${b.minute}${b.second}${ms}`
}

export function notaSah(nota: string): boolean {
  return /^SLF\d{15}$/.test(nota)
}
