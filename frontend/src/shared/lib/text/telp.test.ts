import { expect, it } from 'vitest'
import { cleanTelp, isTelp } from './telp'

it.each([
  ['81234567890', '81234567890'],
  ['812-3456 7890', '81234567890'],
  ['6', '6'],
  ['62', ''],
  ['6281234567890', ''],
  ['+62 812', ''],
  ['0', ''],
  ['0812', ''],
  ['abc', ''],
  ['812345678901234567', '8123456789012'],
])('%s leaves %s in the field', (typed, left) => expect(cleanTelp(typed)).toBe(left))

it('knows what can be a number without prefix in an address', () => {
  expect(isTelp('81234567890')).toBe(true)
  for (const not of [undefined, '', '0812345678', '6281234567890', '812', '8123x567'])
    expect(isTelp(not)).toBe(false)
})
