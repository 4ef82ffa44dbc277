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

it('login wants both fields', () => {
  expect(validLogin({ telp: '', password: 'x' })).toBe('Field masih kosong')
  expect(validLogin({ telp: '812', password: '' })).toBe('Field masih kosong')
  expect(validLogin({ telp: '812', password: 'x' })).toBeNull()
})

it('registration tells its faults in their order', () => {
  const full = { telp: '812', password: 'a', ulangi: 'a', nama: 'Siti Rahmawati' }
  expect(validRegister(full)).toBeNull()
  for (const field of ['telp', 'password', 'ulangi', 'nama'] as const) {
    expect(validRegister({ ...full, [field]: '' })).toBe('Form Belum Lengkap')
  }
  expect(validRegister({ ...full, nama: ' Siti  ', ulangi: 'b' })).toBe('Nama Akun Minimal 2 Kata')
  expect(validRegister({ ...full, ulangi: 'b' })).toBe('Password Tidak Sama')
})

it('the reset wants both and the same', () => {
  expect(validReset({ password: 'a', ulangi: '' })).toBe('Form Belum Lengkap')
  expect(validReset({ password: 'a', ulangi: 'b' })).toBe('Password Tidak Sama')
  expect(validReset({ password: 'a', ulangi: 'a' })).toBeNull()
  expect(validForgotTelp({ telp: '' })).toBe('Field masih kosong')
  expect(validForgotTelp({ telp: '812' })).toBeNull()
})

it('the change of the password has words of its own', () => {
  expect(validUbahSandi({ lama: '', baru: 'a', ulangi: 'a' })).toBe('Data ada yang kosong')
  expect(validUbahSandi({ lama: 'x', baru: 'a', ulangi: 'b' })).toBe('Kata sandi tidak sama')
  expect(validUbahSandi({ lama: 'x', baru: 'a', ulangi: 'a' })).toBeNull()
})

it('counts words between any blanks', () => {
  expect(kata('  Siti \t Rahmawati ')).toEqual(['Siti', 'Rahmawati'])
  expect(namaCukup('Siti R')).toBe(true)
  expect(namaCukup(' Siti ')).toBe(false)
})
