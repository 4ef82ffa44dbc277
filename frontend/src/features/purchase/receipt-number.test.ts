import { expect, it } from 'vitest'
import { isReceiptNumber, newReceiptNumber } from './receipt-number'
import { isMachineQr, readCode } from './scan/machine-code'

it('a receipt number is SLF and the moment in Jakarta to the millisecond', () => {
  const receiptNumber = newReceiptNumber(new Date('2026-11-20T17:04:05.006Z'))
  expect(receiptNumber).toBe('SLF261121000405006')
  expect(isReceiptNumber(receiptNumber)).toBe(true)
  expect(isReceiptNumber('SLF1')).toBe(false)
})

it('a typed code forgives small letters, blanks and look-alikes', () => {
  expect(readCode(' ab12-cd34 ')).toBe('AB12CD34')
  expect(readCode('OIL2CD34')).toBe('0112CD34')
  for (const not of ['', 'AB12CD3', 'AB12CD345', 'UUUUUUUU', 'AB12CD3!']) expect(readCode(not)).toBeNull()
})

it('only our own stickers are machines', () => {
  expect(isMachineQr('NYM1.1.AAAA.BBBB')).toBe(true)
  expect(isMachineQr('https://example.com/NYM1.')).toBe(false)
  expect(isMachineQr(`NYM1.${'A'.repeat(600)}`)).toBe(false)
})
