/** Longest national number (E.164 allows 15 digits with the country code 62). */
const TELP_MAX = 13

/**
 * Value of a telephone field after an edit: digits only, and empty when they start with 62 or 0, because the prefix is already printed
 * before the field (docs/product.md §5: cleared, not stripped).
 */
export function cleanTelp(typed: string): string {
  const digits = typed.replace(/\D/g, '')
  return /^(62|0)/.test(digits) ? '' : digits.slice(0, TELP_MAX)
}

/** Whether an address's `:noTelp` can be a number without prefix. */
export function isTelp(telp: string | undefined): telp is string {
  return telp !== undefined && /^[1-9]\d{5,12}$/.test(telp) && cleanTelp(telp) === telp
}
