import { copy } from '@/shared/copy/copy'

/** Characters, not bytes, composed (NFC), as the server counts them. */
const PASSWORD_MIN = 8
const PASSWORD_MAX = 128

const count = (password: string): number => [...password.normalize('NFC')].length

export const longEnough = (password: string): boolean => count(password) >= PASSWORD_MIN

export const shortEnough = (password: string): boolean => count(password) <= PASSWORD_MAX

export interface Advice {
  text: string
  met: boolean
}

/** The rules for a good new password (docs/product.md §5, §9). Only the length is required; the rest is advice. */
export function passwordAdvice(password: string): Advice[] {
  const { length, upperCase, lowerCase, digit } = copy.form.passwordAdvice
  return [
    { text: length, met: longEnough(password) },
    { text: upperCase, met: /\p{Lu}/u.test(password) },
    { text: lowerCase, met: /\p{Ll}/u.test(password) },
    { text: digit, met: /\p{Nd}/u.test(password) },
  ]
}
