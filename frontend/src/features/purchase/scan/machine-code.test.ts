import { expect, test } from 'vitest'
import { isMachineQr, readCode } from './machine-code'

test('a typed machine code is read whatever stands around it and whichever digits it has', () => {
  for (const typed of ['A1B2C3D4', '\u200ba1b2-c3d4\r\n', 'A١B٢C٣D٤', '\u00a0A۱B۲C۳D۴', 'A１B２C３D４']) {
    expect(readCode(typed)).toBe('A1B2C3D4')
  }
})

test('a sticker is one whatever stands before it', () => {
  for (const before of ['\u200b', '\ufeff', '\r\n', '\t\u00a0'])
    expect(isMachineQr(`${before}NYM1.1.A.B`)).toBe(true)
})
