import { afterEach, expect, it } from 'vitest'
import { forgotCode, keepOnlyOf, registerDraft } from './auth-flow'

const PASSWORD = 'Rahasia123'
const draft = { telp: '81234567890', password: PASSWORD, nama: 'Siti Rahmawati' }

const stored = () => JSON.stringify([{ ...localStorage }, { ...sessionStorage }])

afterEach(() => sessionStorage.clear())

it('a typed password and a code leave the storage with another number', () => {
  registerDraft.write(draft)
  keepOnlyOf(draft.telp)
  expect(registerDraft.read()).toEqual(draft)
  forgotCode.write({ telp: draft.telp, otp: '123456' })
  keepOnlyOf('81234567891')
  expect(stored()).not.toContain(PASSWORD)
  expect(stored()).not.toContain('123456')
  registerDraft.write(draft)
  expect(registerDraft.readFor('81234567891')).toBeNull()
  expect(stored()).not.toContain(PASSWORD)
})
