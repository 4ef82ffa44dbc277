import { expect, it } from 'vitest'
import { fullName, initials } from './name'

it('joins first and last name', () => {
  expect(fullName({ nama_awal: 'Siti', nama_akhir: 'Nur Aini' })).toBe('Siti Nur Aini')
  expect(fullName({ nama_awal: 'Siti', nama_akhir: '' })).toBe('Siti')
})

it('stands for a name by its first and last word', () => {
  expect(initials('Siti Nur aini')).toBe('SA')
  expect(initials('siti')).toBe('S')
  expect(initials('𝒮iti Ægir')).toBe('𝒮Æ')
  expect(initials('')).toBe('')
})
