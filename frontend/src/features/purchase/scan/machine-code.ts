import { asciiDigits } from '@/shared/lib/text/digits'

/** Every machine sticker of ours starts with this; any other code is not a machine and opens nothing. */
const QR_PREFIX = 'NYM1.'
/** Blanks, line ends and invisible characters, which the server strips, too. */
const BEFORE = /^[\s\p{Cc}\p{Cf}]+/u

export function isMachineQr(text: string): boolean {
  return text.replace(BEFORE, '').startsWith(QR_PREFIX) && text.length <= 512
}

/**
 * Normalises a typed code as the sticker prints it: 8 Crockford base32 characters. Lower case, blanks and the look-alikes O, I and L are
 * accepted. Null when it cannot be a code.
 */
export function readCode(typed: string): string | null {
  const code = asciiDigits(typed)
    .toUpperCase()
    .replace(/[\s\p{Cc}\p{Cf}\p{Pd}]/gu, '')
    .replace(/O/g, '0')
    .replace(/[IL]/g, '1')
  return /^[0-9A-HJKMNP-TV-Z]{8}$/.test(code) ? code : null
}
