import { expect, it } from 'vitest'
import { inisial, namaLengkap } from './nama'

it('joins first and last name', () => {
  expect(namaLengkap({ nama_awal: 'Siti', nama_akhir: 'Nur Aini' })).toBe('Siti Nur Aini')
  expect(namaLengkap({ nama_awal: 'Siti', nama_akhir: '' })).toBe('Siti')
})

it('stands for a name by its first and last word', () => {
  expect(inisial('Siti Nur aini')).toBe('SA')
  expect(inisial('siti')).toBe('S')
  expect(inisial('𝒮iti Ægir')).toBe('𝒮Æ')
  expect(inisial('')).toBe('')
})
