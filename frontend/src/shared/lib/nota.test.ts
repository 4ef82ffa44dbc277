import { expect, it } from 'vitest'
import { bacaKode, qrMesin } from './kode-mesin'
import { buatNota, notaSah } from './nota'

it('a receipt number is SLF and the moment in Jakarta to the millisecond', () => {
  const nota = buatNota(new Date('2026-11-20T17:04:05.006Z'))
  expect(nota).toBe('SLF261121000405006')
  expect(notaSah(nota)).toBe(true)
  expect(notaSah('SLF1')).toBe(false)
})

it('a typed code forgives small letters, blanks and look-alikes', () => {
  expect(bacaKode(' ab12-cd34 ')).toBe('AB12CD34')
  expect(bacaKode('OIL2CD34')).toBe('0112CD34')
  for (const not of ['', 'AB12CD3', 'AB12CD345', 'UUUUUUUU', 'AB12CD3!']) expect(bacaKode(not)).toBeNull()
})

it('only our own stickers are machines', () => {
  expect(qrMesin('NYM1.1.AAAA.BBBB')).toBe(true)
  expect(qrMesin('https://example.com/NYM1.')).toBe(false)
  expect(qrMesin(`NYM1.${'A'.repeat(600)}`)).toBe(false)
})
