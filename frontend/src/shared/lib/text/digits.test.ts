import { expect, test } from 'vitest'
import { longEnough } from '@/shared/lib/form/password-advice'
import { onlyDigits } from './digits'

test('digits of other keyboards are digits', () => {
  for (const typed of ['123456', '١٢٣٤٥٦', '۱۲۳۴۵۶', '１２３４５６', ' 123\u200b456\r\n']) {
    expect(onlyDigits(typed)).toBe('123456')
  }
})

test('a password is counted as the server counts it', () => {
  expect(longEnough('e\u0301'.repeat(7))).toBe(false)
  expect(longEnough('e\u0301'.repeat(8))).toBe(true)
})
