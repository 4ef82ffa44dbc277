import { beforeEach, expect, it } from 'vitest'
import { passwordDraft } from './password-draft'

const form = { current: 'Lama1234', next: 'Baru1234', repeat: 'Baru1234' }
const AT = 1_763_600_000_000

beforeEach(() => sessionStorage.clear())

it('is there again after a reload, as long as the code is good', () => {
  passwordDraft.write(form, AT)
  expect(passwordDraft.read(AT + 299_999)).toEqual(form)
  expect(passwordDraft.read(AT + 300_000)).toBeNull()
})

it('is nothing when somebody else wrote there', () => {
  passwordDraft.write(form, AT)
  const [key] = Object.keys(sessionStorage)
  sessionStorage.setItem(key ?? '', JSON.stringify({ value: { lama: 1 }, until: AT + 1_000 }))
  expect(passwordDraft.read(AT)).toBeNull()
  sessionStorage.setItem(key ?? '', '{')
  expect(passwordDraft.read(AT)).toBeNull()
})

it('is read as every version has kept it', () => {
  passwordDraft.write(form, AT)
  const [key] = Object.keys(sessionStorage)
  const value = { lama: 'Lama1234', baru: 'Baru1234', ulangi: 'Baru1234' }
  expect(JSON.parse(sessionStorage.getItem(key ?? '') ?? '')).toMatchObject({ value })
  expect(passwordDraft.read(AT)).toEqual(form)
})
