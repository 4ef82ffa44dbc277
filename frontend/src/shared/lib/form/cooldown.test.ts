import { afterEach, expect, it } from 'vitest'
import { codeSent, cooldownLeft, forgetCode } from './cooldown'

afterEach(() => sessionStorage.clear())

const AT = 1_000_000

it('counts down from 60 s per number and purpose', () => {
  codeSent('register', '812', AT)
  expect(cooldownLeft('register', '812', AT)).toBe(60_000)
  expect(cooldownLeft('register', '812', AT + 59_999)).toBe(1)
  expect(cooldownLeft('register', '812', AT + 60_000)).toBe(0)
  expect(cooldownLeft('forgot', '812', AT)).toBe(0)
  expect(cooldownLeft('register', '813', AT)).toBe(0)
})

it('is over when forgotten, and when the clock was set back', () => {
  codeSent('register', '812', AT)
  expect(cooldownLeft('register', '812', AT - 1)).toBe(0)
  forgetCode('register', '812')
  expect(cooldownLeft('register', '812', AT)).toBe(0)
})
