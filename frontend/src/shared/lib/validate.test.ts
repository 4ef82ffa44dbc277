import { expect, it } from 'vitest'
import {
  kata,
  namaCukup,
  validForgotTelp,
  validLogin,
  validRegister,
  validReset,
  validUbahSandi,
} from './validate'

const SHORT = 'kata sandi minimal 8 karakter'

it('login wants both fields', () => {
  expect(validLogin({ telp: '', password: 'x' })).toEqual({ telp: 'Field masih kosong' })
  expect(validLogin({ telp: '812', password: '' })).toEqual({ password: 'Field masih kosong' })
  expect(validLogin({ telp: '812', password: 'x' })).toEqual({})
})

const full = { telp: '812', password: 'Rahasia1', ulangi: 'Rahasia1', nama: 'Siti Rahmawati' }

it('registration first wants all fields', () => {
  expect(validRegister(full)).toEqual({})
  for (const field of ['telp', 'password', 'ulangi', 'nama'] as const) {
    expect(validRegister({ ...full, [field]: '' })).toEqual({ [field]: 'Form Belum Lengkap' })
  }
  expect(validRegister({ ...full, nama: '  ', password: 'a' })).toEqual({ nama: 'Form Belum Lengkap' })
  const nothing = { telp: '', password: '', ulangi: '', nama: '' }
  expect(Object.keys(validRegister(nothing))).toEqual(['telp', 'password', 'ulangi', 'nama'])
})

it('registration tells each fault at its field, in the order of the form', () => {
  expect(validRegister({ ...full, nama: ' Siti  ' })).toEqual({ nama: 'Nama Akun Minimal 2 Kata' })
  expect(validRegister({ ...full, ulangi: 'b' })).toEqual({ ulangi: 'Password Tidak Sama' })
  expect(validRegister({ ...full, password: 'a', ulangi: 'a' })).toEqual({ password: SHORT })
  const all = validRegister({ ...full, password: 'a', ulangi: 'b', nama: 'Siti' })
  expect(Object.entries(all)).toEqual([
    ['password', SHORT],
    ['ulangi', 'Password Tidak Sama'],
    ['nama', 'Nama Akun Minimal 2 Kata'],
  ])
})

it('the reset wants both, long enough and the same', () => {
  expect(validReset({ password: 'a', ulangi: '' })).toEqual({ ulangi: 'Form Belum Lengkap' })
  expect(validReset({ password: 'Rahasia1', ulangi: 'b' })).toEqual({ ulangi: 'Password Tidak Sama' })
  expect(validReset({ password: 'pendek7', ulangi: 'pendek7' })).toEqual({ password: SHORT })
  expect(validReset({ password: 'Rahasia1', ulangi: 'Rahasia1' })).toEqual({})
  expect(validForgotTelp({ telp: '' })).toEqual({ telp: 'Field masih kosong' })
  expect(validForgotTelp({ telp: '812' })).toEqual({})
})

it('the change of the password has words of its own', () => {
  expect(validUbahSandi({ lama: '', baru: 'a', ulangi: 'a' })).toEqual({ lama: 'Data ada yang kosong' })
  expect(validUbahSandi({ lama: 'x', baru: 'Rahasia1', ulangi: 'b' })).toEqual({
    ulangi: 'Kata sandi tidak sama',
  })
  expect(validUbahSandi({ lama: 'x', baru: 'a', ulangi: 'a' })).toEqual({ baru: SHORT })
  // An old password may be from before there was a rule.
  expect(validUbahSandi({ lama: 'x', baru: 'Rahasia1', ulangi: 'Rahasia1' })).toEqual({})
})

it('counts words between any blanks', () => {
  expect(kata('  Siti \t Rahmawati ')).toEqual(['Siti', 'Rahmawati'])
  expect(namaCukup('Siti R')).toBe(true)
  expect(namaCukup(' Siti ')).toBe(false)
})
