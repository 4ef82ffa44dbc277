import { expect, it } from 'vitest'
import {
  nameFault,
  validForgotTelp,
  validLogin,
  validPasswordChange,
  validRegister,
  validReset,
  words,
} from './validate'

const SHORT = 'kata sandi minimal 8 karakter'

it('login wants both fields', () => {
  expect(validLogin({ telp: '', password: 'x' })).toEqual({ telp: 'Field masih kosong' })
  expect(validLogin({ telp: '812', password: '' })).toEqual({ password: 'Field masih kosong' })
  expect(validLogin({ telp: '812', password: 'x' })).toEqual({})
})

const full = { telp: '812', password: 'Rahasia1', repeat: 'Rahasia1', nama: 'Siti Rahmawati' }

it('registration first wants all fields', () => {
  expect(validRegister(full)).toEqual({})
  for (const field of ['telp', 'password', 'repeat', 'nama'] as const) {
    expect(validRegister({ ...full, [field]: '' })).toEqual({ [field]: 'Form Belum Lengkap' })
  }
  expect(validRegister({ ...full, nama: '  ', password: 'a' })).toEqual({ nama: 'Form Belum Lengkap' })
  const nothing = { telp: '', password: '', repeat: '', nama: '' }
  expect(Object.keys(validRegister(nothing))).toEqual(['telp', 'password', 'repeat', 'nama'])
})

it('registration tells each fault at its field, in the order of the form', () => {
  expect(validRegister({ ...full, nama: ' Siti  ' })).toEqual({ nama: 'Nama Akun Minimal 2 Kata' })
  expect(validRegister({ ...full, repeat: 'b' })).toEqual({ repeat: 'Password Tidak Sama' })
  expect(validRegister({ ...full, password: 'a', repeat: 'a' })).toEqual({ password: SHORT })
  const all = validRegister({ ...full, password: 'a', repeat: 'b', nama: 'Siti' })
  expect(Object.entries(all)).toEqual([
    ['password', SHORT],
    ['repeat', 'Password Tidak Sama'],
    ['nama', 'Nama Akun Minimal 2 Kata'],
  ])
})

it('the reset wants both, long enough and the same', () => {
  expect(validReset({ password: 'a', repeat: '' })).toEqual({ repeat: 'Form Belum Lengkap' })
  expect(validReset({ password: 'Rahasia1', repeat: 'b' })).toEqual({ repeat: 'Password Tidak Sama' })
  expect(validReset({ password: 'pendek7', repeat: 'pendek7' })).toEqual({ password: SHORT })
  expect(validReset({ password: 'Rahasia1', repeat: 'Rahasia1' })).toEqual({})
  expect(validForgotTelp({ telp: '' })).toEqual({ telp: 'Field masih kosong' })
  expect(validForgotTelp({ telp: '812' })).toEqual({})
})

it('the change of the password has words of its own', () => {
  expect(validPasswordChange({ current: '', next: 'a', repeat: 'a' })).toEqual({
    current: 'Data ada yang kosong',
  })
  expect(validPasswordChange({ current: 'x', next: 'Rahasia1', repeat: 'b' })).toEqual({
    repeat: 'Kata sandi tidak sama',
  })
  expect(validPasswordChange({ current: 'x', next: 'a', repeat: 'a' })).toEqual({ next: SHORT })
  // An old password may come from before the rule.
  expect(validPasswordChange({ current: 'x', next: 'Rahasia1', repeat: 'Rahasia1' })).toEqual({})
})

it('counts words between any blanks', () => {
  expect(words('  Siti \t Rahmawati ')).toEqual(['Siti', 'Rahmawati'])
  expect(nameFault('Siti R')).toBeUndefined()
  expect(nameFault(' Siti ')).toBe('Nama Akun Minimal 2 Kata')
})

it('a name is refused as the server refuses it, before a code is asked for', () => {
  for (const name of [
    'Siti Rahma',
    'Siti \u{1f468}\u200d\u{1f469}\u200d\u{1f467}',
    '\u0645\u06cc\u200c\u062e\u0648 Reza',
    'E\u0301lise \u2764\ufe0f',
    `a ${'b'.repeat(98)}`,
  ])
    expect(nameFault(name)).toBeUndefined()
  for (const word of [
    '\u3164',
    '\u2800',
    '\u115f',
    '\u2065',
    '\u{1d159}',
    '\u0301',
    '\ue000',
    '\u{e0041}',
    '\u200d',
    'a\u200d',
    'a\u200bb',
    'a\u202eb',
    '\ufe0f',
    '\u0000',
  ])
    expect(nameFault(`Siti ${word}`)).toBe('Nama berisi karakter yang tidak terlihat')
  expect(nameFault(`a ${'b'.repeat(99)}`)).toBe('Nama paling banyak 99 huruf')
  expect(nameFault('Siti')).toBe('Nama Akun Minimal 2 Kata')
})
