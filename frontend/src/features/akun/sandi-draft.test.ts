import { beforeEach, expect, it } from 'vitest'
import { sandiDraft } from './sandi-draft'

const form = { current: 'Lama1234', next: 'Baru1234', repeat: 'Baru1234' }
const AT = 1_763_600_000_000

beforeEach(() => sessionStorage.clear())

it('is there again after a reload, as long as the code is good', () => {
  sandiDraft.write(form, AT)
  expect(sandiDraft.read(AT + 299_999)).toEqual(form)
  expect(sandiDraft.read(AT + 300_000)).toBeNull()
})

it('is nothing when somebody else wrote there', () => {
  sandiDraft.write(form, AT)
  const [key] = Object.keys(sessionStorage)
  sessionStorage.setItem(key ?? '', JSON.stringify({ value: { lama: 1 }, until: AT + 1_000 }))
  expect(sandiDraft.read(AT)).toBeNull()
  sessionStorage.setItem(key ?? '', '{')
  expect(sandiDraft.read(AT)).toBeNull()
})
