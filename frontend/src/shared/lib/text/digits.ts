/** The first of ten digits each: of Arabic, Persian and East Asian keyboards. */
const ZEROS = [0x660, 0x6f0, 0xff10]

/** `text` with the digits of other keyboards replaced by ASCII digits, as the server reads codes. */
export function asciiDigits(text: string): string {
  return text.replace(/[٠-٩۰-۹０-９]/g, (digit) => {
    const zero = ZEROS.find((from) => digit.charCodeAt(0) - from >= 0 && digit.charCodeAt(0) - from <= 9) ?? 0
    return String(digit.charCodeAt(0) - zero)
  })
}

/** Nothing but the digits of `text`. */
export function onlyDigits(text: string): string {
  return asciiDigits(text).replace(/\D/g, '')
}
