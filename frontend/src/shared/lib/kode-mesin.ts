/** Every machine sticker of ours begins so; any other code is nobody's machine and opens nothing. */
const AWALAN_QR = 'NYM1.'

export function qrMesin(teks: string): boolean {
  return teks.startsWith(AWALAN_QR) && teks.length <= 512
}

/**
 * A typed code as the sticker prints it: 8 Crockford base32 characters. Small letters, blanks and the
 * look-alikes O, I and L are forgiven. Null when it cannot be a code.
 */
export function bacaKode(ketikan: string): string | null {
  const kode = ketikan.toUpperCase().replace(/[\s-]/g, '').replace(/O/g, '0').replace(/[IL]/g, '1')
  return /^[0-9A-HJKMNP-TV-Z]{8}$/.test(kode) ? kode : null
}
