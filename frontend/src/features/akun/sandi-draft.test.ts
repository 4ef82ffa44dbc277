import { beforeEach, describe, expect, it } from 'vitest'
import { clearPrivate } from '@/shared/lib/storage'
import { dropDraft, keepDraft, readDraft } from './sandi-draft'

const form = { lama: 'Lama1234', baru: 'Baru1234', ulangi: 'Baru1234' }
const AT = 1_763_600_000_000

describe('the password form while its code is awaited', () => {
  beforeEach(() => sessionStorage.clear())

  it('is there again after a reload, as long as the code is good', () => {
    keepDraft(form, AT)
    expect(readDraft(AT + 299_999)).toEqual(form)
    expect(readDraft(AT + 300_000)).toBeNull()
  })

  it('goes with the code step, and with the session', () => {
    keepDraft(form, AT)
    dropDraft()
    expect(readDraft(AT)).toBeNull()
    keepDraft(form, AT)
    clearPrivate()
    expect(readDraft(AT)).toBeNull()
  })

  it('is nothing when somebody else wrote there', () => {
    keepDraft(form, AT)
    const [key] = Object.keys(sessionStorage)
    sessionStorage.setItem(key ?? '', JSON.stringify({ at: AT, form: { lama: 1 } }))
    expect(readDraft(AT)).toBeNull()
    sessionStorage.setItem(key ?? '', '{')
    expect(readDraft(AT)).toBeNull()
  })
})
