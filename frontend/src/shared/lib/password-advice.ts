import { added } from '@/shared/copy/added'

/** Characters, not bytes, as the server counts them. */
const PASSWORD_MIN = 8

export function longEnough(password: string): boolean {
  return [...password].length >= PASSWORD_MIN
}

export interface Advice {
  text: string
  met: boolean
}

/** What makes a new password good (docs/product.md §5, §9). Only the length is asked for; the rest is advice. */
export function passwordAdvice(password: string): Advice[] {
  const { length, upperCase, lowerCase, digit } = added.passwordAdvice
  return [
    { text: length, met: longEnough(password) },
    { text: upperCase, met: /\p{Lu}/u.test(password) },
    { text: lowerCase, met: /\p{Ll}/u.test(password) },
    { text: digit, met: /\p{Nd}/u.test(password) },
  ]
}
