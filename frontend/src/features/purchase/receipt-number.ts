import { partsOf } from '@/shared/lib/text/format'

/** The receipt number of a purchase that starts now: `SLF` and `yymmddHHMMSSmmm` (docs/product.md §3), Jakarta time. */
export function newReceiptNumber(now: Date): string {
  const b = partsOf(now)
  if (!b) throw new RangeError('newReceiptNumber needs a valid date')
  const ms = String(now.getMilliseconds()).padStart(3, '0')
  return `SLF${b.year.slice(2)}${b.month}${b.day}${b.hour}${b.minute}${b.second}${ms}`
}

export function isReceiptNumber(receiptNumber: string): boolean {
  return /^SLF\d{15}$/.test(receiptNumber)
}
